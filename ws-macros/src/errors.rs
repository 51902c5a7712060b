//! All errors of one function, reported together.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::Error;

/// Collects errors; the first one does not hide the others.
#[derive(Default)]
pub(crate) struct Errors {
    errors: Vec<Error>,
    /// rustc would report the same about the body.
    pub(crate) hide_body: bool,
    /// rustc would report the same about the signature of `run`.
    pub(crate) hide_run: bool,
    /// A module cannot stand where this function is.
    pub(crate) hide_module: bool,
}

impl Errors {
    /// Adds a message at the token to change.
    pub(crate) fn at(&mut self, token: impl ToTokens, message: impl std::fmt::Display) {
        self.errors.push(Error::new_spanned(token, message));
    }

    /// Adds a message at a span.
    pub(crate) fn span(&mut self, span: Span, message: impl std::fmt::Display) {
        self.errors.push(Error::new(span, message));
    }

    /// Adds an error that a parser made.
    pub(crate) fn push(&mut self, error: Error) {
        self.errors.extend(error);
    }

    /// Adds the errors of `other`.
    pub(crate) fn append(&mut self, other: Self) {
        self.errors.extend(other.errors);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// A `compile_error!` for each error, in the order of the source where that is known.
    pub(crate) fn to_tokens(&self) -> TokenStream {
        self.errors.iter().map(Error::to_compile_error).collect()
    }
}

/// Tokens as a programmer would write them, near enough for a message.
pub(crate) fn tidy(tokens: TokenStream) -> String {
    // Long tokens have several lines.
    let text = tokens.to_string();
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (from, to) in [
        (" < ", "<"),
        (" >", ">"),
        (" :: ", "::"),
        (" ,", ","),
        ("& ", "&"),
        (" (", "("),
    ] {
        text = text.replace(from, to);
    }
    text
}
