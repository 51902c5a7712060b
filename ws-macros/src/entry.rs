//! One option as written: its name and its value.

use proc_macro2::TokenStream;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Expr, Ident, Token, parenthesized};

/// One option as written.
pub(crate) struct Entry {
    pub(crate) name: Ident,
    pub(crate) value: EntryValue,
}

/// The value of an option.
pub(crate) enum EntryValue {
    Flag,
    Is(Expr),
    List(TokenStream),
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.call(Ident::parse_any)?;
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            EntryValue::Is(input.parse()?)
        } else if input.peek(syn::token::Paren) {
            let list;
            parenthesized!(list in input);
            EntryValue::List(list.parse()?)
        } else {
            EntryValue::Flag
        };
        Ok(Self { name, value })
    }
}

/// The syntax of a known option, for messages.
pub(crate) fn usage(name: &str) -> &'static str {
    match name {
        "retry" => "retry(3)` or `retry(3, backoff = \"50ms..2s\", when = is_transient)",
        "timeout" => "timeout = \"800ms\"",
        "fallback" => "fallback = value",
        "after" => "after(node, …)",
        "limit" => "limit = 8",
        "rate" => "rate = \"500/s\"",
        "queue" => "queue = 16",
        "batch" => "batch(value, max = 500, within = \"200ms\")",
        "key" => "key = value.id",
        "flat" => "flat` or `flat = 8",
        "name" => "name = \"text\"",
        "blocking" => "blocking",
        "inline" => "inline",
        "spawn" => "spawn",
        _ => "graph",
    }
}
