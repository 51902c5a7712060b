//! Helpers that make generated code.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use syn::Ident;
use syn::ext::IdentExt;

use crate::parse::Parsed;

/// `quote!`, with spans that separate the macro's variables from the user's.
macro_rules! emit {
    ($($tokens:tt)*) => {
        ::quote::quote_spanned!(::proc_macro2::Span::mixed_site()=> $($tokens)*)
    };
}

/// The path of the runtime.
pub(super) fn rt(parsed: &Parsed) -> TokenStream {
    let krate = &parsed.args.krate;
    emit!(#krate::graph::rt)
}

/// A name of the macro's that belongs to a name of the user's.
pub(super) fn own(prefix: &str, name: &Ident) -> Ident {
    format_ident!("__{}_{}", prefix, name.unraw(), span = Span::mixed_site())
}

/// Disables the lints that generated code need not pass.
pub(super) fn quiet() -> TokenStream {
    emit!(#[allow(unused, unreachable_pub, unreachable_code, clippy::all, clippy::pedantic)])
}

/// Tokens with another span: an error about them is reported there.
pub(super) fn respan(tokens: impl ToTokens, span: Span) -> TokenStream {
    tokens
        .into_token_stream()
        .into_iter()
        .map(|mut token| {
            if let TokenTree::Group(group) = &token {
                token = Group::new(group.delimiter(), respan(group.stream(), span)).into();
            }
            token.set_span(span);
            token
        })
        .collect()
}
