//! Names in format strings: `{name}`, `{name:?}`, `{:width$}`, `{:.precision$}`.

use proc_macro2::Span;
use syn::Ident;
use syn::ext::IdentExt;
use syn::parse::Parser;

/// The role of a name in a format string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Capture {
    /// `{name}`: the value that is shown.
    Value,
    /// `{:name$}`: a number.
    Width,
}

/// A name in a format string as an identifier: `{type}` means `r#type`.
pub(crate) fn ident(name: &str, span: Span) -> Option<Ident> {
    if let Ok(mut ident) = syn::parse_str::<Ident>(name) {
        ident.set_span(span);
        return Some(ident);
    }
    let word = Ident::parse_any.parse_str(name).ok()?;
    let never_raw = ["self", "Self", "super", "crate", "_"];
    (!never_raw.iter().any(|never| word == never)).then(|| Ident::new_raw(name, span))
}

/// The names that a format string captures.
pub(crate) fn captures(text: &str) -> Vec<(String, Capture)> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find(['{', '}']) {
        let doubled = rest[open..].starts_with("{{") || rest[open..].starts_with("}}");
        if doubled || rest[open..].starts_with('}') {
            rest = &rest[open + if doubled { 2 } else { 1 }..];
            continue;
        }
        let Some(close) = rest[open..].find('}') else {
            break;
        };
        argument(&rest[open + 1..open + close], &mut names);
        rest = &rest[open + close + 1..];
    }
    names
}

/// Reads the text between two braces: a name, and `name$`s after a colon.
fn argument(inside: &str, names: &mut Vec<(String, Capture)>) {
    let (name, spec) = inside.split_once(':').unwrap_or((inside, ""));
    let mut add = |name: &str, place| {
        let name = name.trim();
        if ident(name, Span::call_site()).is_some() {
            names.push((name.to_owned(), place));
        }
    };
    add(name, Capture::Value);
    let mut before = spec;
    while let Some(dollar) = before.find('$') {
        let word = &before[..dollar];
        let start = word
            .rfind(|c: char| !(c.is_alphanumeric() || c == '_'))
            .map_or(0, |i| {
                i + word[i..].chars().next().map_or(1, char::len_utf8)
            });
        // A leading `0` flag belongs to the specification, not to the name.
        add(word[start..].trim_start_matches('0'), Capture::Width);
        before = &before[dollar + 1..];
    }
}

#[cfg(test)]
mod tests {
    use super::{Capture, captures, ident};
    use proc_macro2::Span;

    fn names(text: &str) -> Vec<String> {
        captures(text).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn names_are_found_and_the_rest_is_not() {
        assert_eq!(names("{order:?} and {total}"), ["order", "total"]);
        assert_eq!(names("{{order}} {} {0} {:?}"), Vec::<String>::new());
        assert_eq!(names("{x:>width$.precision$}"), ["x", "width", "precision"]);
        assert_eq!(names("{:0w$} }} {a"), ["w"]);
        assert_eq!(names("{{{b}}}"), ["b"]);
        assert_eq!(names("ü{ü:ß$}"), ["ü", "ß"]);
        assert_eq!(captures("{a:b$}")[0].1, Capture::Value);
        assert_eq!(captures("{a:b$}")[1].1, Capture::Width);
    }

    #[test]
    fn keywords_are_raw() {
        let of = |name| ident(name, Span::call_site()).map(|ident| ident.to_string());
        assert_eq!(of("type").as_deref(), Some("r#type"));
        assert_eq!(of("order").as_deref(), Some("order"));
        assert_eq!(of("self"), None);
        assert_eq!(of("_"), None);
        assert_eq!(of("0"), None);
    }
}
