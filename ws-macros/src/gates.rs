//! The options of nodes in a graph over a stream: `rate`, `queue`, `batch`, `key`, `flat`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, ExprLit, Ident, Lit, Token};

use crate::duration;
use crate::entry::{Entry, EntryValue, usage};
use crate::errors::Errors;
use crate::similar::nearest;

/// `rate = "500/s"`.
pub(crate) struct Rate {
    pub(crate) span: Span,
    /// The time between the beginnings of two calls.
    pub(crate) interval: TokenStream,
}

/// `queue = 16`.
pub(crate) struct Queue {
    pub(crate) span: Span,
    pub(crate) places: Expr,
}

/// `batch(x, max = 500, within = "200ms")`.
pub(crate) struct Batch {
    pub(crate) span: Span,
    /// The value of which one call gets many.
    pub(crate) value: Ident,
    pub(crate) max: Expr,
    pub(crate) within: Expr,
}

/// `key = expr`.
pub(crate) struct Key {
    pub(crate) span: Span,
    pub(crate) expr: Expr,
}

/// `flat`, or `flat = 8`.
pub(crate) struct Flat {
    pub(crate) span: Span,
    /// The number of elements that run at a time; one if it is missing.
    pub(crate) at_once: Option<Expr>,
}

/// The units of a rate, with their lengths in nanoseconds.
const PER: [(&str, u64); 4] = [
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// A number that must not be 0, as far as the macro can see it.
pub(crate) fn not_zero(value: Expr, message: &str, errors: &mut Errors) -> Option<Expr> {
    if let Expr::Lit(ExprLit {
        lit: Lit::Int(number),
        ..
    }) = &value
    {
        if number
            .base10_parse::<u128>()
            .is_ok_and(|number| number == 0)
        {
            errors.at(number, message);
            return None;
        }
    }
    Some(value)
}

pub(crate) fn rate(span: Span, value: &Expr, errors: &mut Errors) -> Option<Rate> {
    let Expr::Lit(ExprLit {
        lit: Lit::Str(text),
        ..
    }) = value
    else {
        errors.at(
            value,
            format!("write `{}`: calls, and in what time", usage("rate")),
        );
        return None;
    };
    match interval(&text.value()) {
        Ok(nanos) => Some(Rate {
            span,
            interval: quote!(::core::time::Duration::from_nanos(#nanos)),
        }),
        Err(message) => {
            errors.at(text, message);
            None
        }
    }
}

/// The nanoseconds between the beginnings of two calls.
fn interval(text: &str) -> Result<u64, String> {
    let wrong = || {
        format!(
            "`{text}` is not a rate: write a number and a time, such as \"500/s\"\n\
             help: the times are s, m, h"
        )
    };
    let (number, per) = text.split_once('/').ok_or_else(wrong)?;
    let number: u64 = number
        .trim()
        .replace('_', "")
        .parse()
        .map_err(|_| wrong())?;
    let (_, length) = PER
        .iter()
        .find(|(name, _)| *name == per.trim())
        .ok_or_else(wrong)?;
    match number {
        0 => Err("a rate of 0 would let nothing past this node: write at least 1".to_owned()),
        number if number > *length => Err(format!(
            "`{text}` is more than one in a nanosecond: leave `rate` out"
        )),
        number => Ok(length / number),
    }
}

pub(crate) fn queue(span: Span, value: Expr, errors: &mut Errors) -> Option<Queue> {
    let zero = "a queue of 0 would let nothing reach this node: write at least 1";
    let places = not_zero(value, zero, errors)?;
    Some(Queue { span, places })
}

pub(crate) fn batch(span: Span, list: TokenStream, errors: &mut Errors) -> Option<Batch> {
    let parser = |input: ParseStream<'_>| -> syn::Result<(Ident, Vec<Entry>)> {
        let value = input.parse()?;
        let mut entries = Vec::new();
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if !input.is_empty() {
                entries.push(input.parse()?);
            }
        }
        Ok((value, entries))
    };
    let Ok((value, entries)) = parser.parse2(list) else {
        errors.span(span, format!("write `{}`", usage("batch")));
        return None;
    };
    let (mut max, mut within) = (None, None);
    for entry in entries {
        match (entry.name.to_string().as_str(), entry.value) {
            ("max", EntryValue::Is(value)) => {
                let zero = "a batch of 0 would take nothing: write at least 1";
                max = Some(not_zero(value, zero, errors)?);
            }
            ("within", EntryValue::Is(value)) => within = Some(duration::duration(&value, errors)),
            (other, _) => {
                let help = match nearest(other, ["max", "within"]) {
                    Some(name) => format!("did you mean `{name}`?"),
                    None => format!("write `{}`", usage("batch")),
                };
                errors.at(
                    &entry.name,
                    format!("`batch` has no `{other}`\nhelp: {help}"),
                );
                return None;
            }
        }
    }
    let (Some(max), Some(within)) = (max, within) else {
        errors.span(
            span,
            format!(
                "a batch is full after so many items, and waits so long for them\n\
                 help: write `{}`",
                usage("batch")
            ),
        );
        return None;
    };
    Some(Batch {
        span,
        value,
        max,
        within,
    })
}

#[cfg(test)]
mod tests {
    use super::interval;

    #[test]
    fn a_rate_is_a_number_and_a_time() {
        assert_eq!(interval("500/s"), Ok(2_000_000));
        assert_eq!(interval(" 1_000 / m "), Ok(60_000_000));
        assert_eq!(interval("60/h"), Ok(60_000_000_000));
        for wrong in [
            "", "500", "/s", "500/", "x/s", "-1/s", "1.5/s", "5/ms", "0/s",
        ] {
            assert!(interval(wrong).is_err(), "{wrong:?}");
        }
    }
}
