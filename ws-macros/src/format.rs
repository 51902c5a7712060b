//! Names in format strings: `{name}`, `{name:?}`, `{:width$}`, `{:.precision$}`.

/// The names that a format string captures.
pub(crate) fn captures(text: &str) -> Vec<String> {
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

/// What stands between the braces: a name, and after a colon perhaps `name$`s.
fn argument(inside: &str, names: &mut Vec<String>) {
    let (name, spec) = inside.split_once(':').unwrap_or((inside, ""));
    let mut add = |name: &str| {
        let name = name.trim();
        if syn::parse_str::<syn::Ident>(name).is_ok() {
            names.push(name.to_owned());
        }
    };
    add(name);
    let mut before = spec;
    while let Some(dollar) = before.find('$') {
        let word = &before[..dollar];
        let start = word
            .rfind(|c: char| !(c.is_alphanumeric() || c == '_'))
            .map_or(0, |i| {
                i + word[i..].chars().next().map_or(1, char::len_utf8)
            });
        // A leading `0` flag belongs to the specification, not to the name.
        add(word[start..].trim_start_matches('0'));
        before = &before[dollar + 1..];
    }
}

#[cfg(test)]
mod tests {
    use super::captures;

    #[test]
    fn names_are_found_and_the_rest_is_not() {
        assert_eq!(captures("{order:?} and {total}"), ["order", "total"]);
        assert_eq!(captures("{{order}} {} {0} {:?}"), Vec::<String>::new());
        assert_eq!(
            captures("{x:>width$.precision$}"),
            ["x", "width", "precision"]
        );
        assert_eq!(captures("{:0w$} }} {a"), ["w"]);
        assert_eq!(captures("{{{b}}}"), ["b"]);
        assert_eq!(captures("ü{ü:ß$}"), ["ü", "ß"]);
    }
}
