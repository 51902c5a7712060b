//! What generated code is made with.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use syn::Ident;
use syn::ext::IdentExt;

use crate::parse::Parsed;

/// `quote!`, with spans that keep our variables apart from the user's.
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

/// A name of ours that belongs to one of the user's.
pub(super) fn own(prefix: &str, name: &Ident) -> Ident {
    format_ident!("__{}_{}", prefix, name.unraw(), span = Span::mixed_site())
}

/// Lints that code made by a macro need not pass.
pub(super) fn quiet() -> TokenStream {
    emit!(#[allow(unused, unreachable_pub, unreachable_code, clippy::all, clippy::pedantic)])
}

/// Tokens with another span, for errors that are about what stands there.
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
