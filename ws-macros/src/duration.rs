//! Durations as they are written in options: `"800ms"`, `"50ms..2s"`.

use quote::ToTokens;
use syn::{Expr, ExprLit, Lit, parse_quote};

use crate::errors::Errors;

/// The units, with their lengths in nanoseconds.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// An expression of type `Duration`: a string with a unit, or any other expression.
pub(crate) fn duration(value: &Expr, errors: &mut Errors) -> Expr {
    match literal(value) {
        None => value.clone(),
        Some(Lit::Str(text)) => match nanos(&text.value()) {
            Some(nanos) => tokens(nanos),
            None => {
                errors.at(text, unit_is_missing(&text.value()));
                tokens(0)
            }
        },
        Some(other) => {
            errors.at(other, unit_is_missing(&other.to_token_stream().to_string()));
            tokens(0)
        }
    }
}

/// Two durations, `"50ms..2s"`, or one for both.
pub(crate) fn range(value: &Expr, errors: &mut Errors) -> (Expr, Expr) {
    let Some(Lit::Str(text)) = literal(value) else {
        let both = duration(value, errors);
        return (both.clone(), both);
    };
    let whole = text.value();
    let Some((first, last)) = whole.split_once("..") else {
        let both = duration(value, errors);
        return (both.clone(), both);
    };
    let mut part = |part: &str| {
        nanos(part).unwrap_or_else(|| {
            errors.at(text, unit_is_missing(part));
            0
        })
    };
    let (first, last) = (part(first), part(last));
    if first > last {
        errors.at(
            text,
            format!("the back-off `{whole}` ends before it begins"),
        );
    }
    (tokens(first), tokens(last))
}

fn literal(value: &Expr) -> Option<&Lit> {
    match value {
        Expr::Lit(ExprLit { lit, .. }) => Some(lit),
        Expr::Group(group) => literal(&group.expr),
        _ => None,
    }
}

fn unit_is_missing(written: &str) -> String {
    let number = written.trim().trim_matches('"');
    let example = if number.parse::<f64>().is_ok() {
        number
    } else {
        "800"
    };
    format!(
        "`{number}` is not a duration: write a number and a unit, such as \"{example}ms\"\n\
         help: the units are ns, us, ms, s, min, h"
    )
}

fn nanos(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '_')?;
    let number: u64 = text[..digits].replace('_', "").parse().ok()?;
    let unit = text[digits..].trim();
    let (_, length) = UNITS.iter().find(|(name, _)| *name == unit)?;
    number.checked_mul(*length)
}

fn tokens(nanos: u64) -> Expr {
    parse_quote!(::core::time::Duration::from_nanos(#nanos))
}

#[cfg(test)]
mod tests {
    use super::nanos;

    #[test]
    fn a_number_and_a_unit() {
        assert_eq!(nanos("800ms"), Some(800_000_000));
        assert_eq!(nanos(" 1_000 us "), Some(1_000_000));
        assert_eq!(nanos("2min"), Some(120_000_000_000));
        assert_eq!(nanos("2m"), Some(120_000_000_000));
        for wrong in [
            "",
            "800",
            "ms",
            "8 00ms",
            "-1s",
            "1.5s",
            "9999999999999h",
            "1sec",
        ] {
            assert_eq!(nanos(wrong), None, "{wrong:?}");
        }
    }
}
