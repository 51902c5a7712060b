//! What the macro knows about the input of other macros.
//!
//! A macro may do anything with its tokens. Some macros are known by their names: those of the
//! standard library that take expressions, and those that wait for several futures. The input
//! of a known macro is read, and names in it mean what they do elsewhere. The input of any
//! other macro is left as it is. If it reads as expressions, it still tells which names it
//! binds itself, and which `?` is its own.

use std::str::FromStr;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Macro, Pat, Token};

/// The input of a macro call.
pub(crate) struct MacroInput {
    pub(crate) shape: Shape,
    /// The macro is known: it does not show its tokens, so they may be changed.
    pub(crate) known: bool,
}

pub(crate) enum Shape {
    /// Only text, as for `stringify!`.
    Text,
    List(List),
    /// `vec![item; count]`.
    Repeat(Expr, Token![;], Expr),
    Matches(Matches),
    /// Anything else.
    Tokens,
}

/// Expressions with commas between them.
pub(crate) struct List {
    pub(crate) items: Punctuated<Expr, Token![,]>,
    pub(crate) format: Format,
}

/// Which of some expressions may be a format string.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    None,
    At(usize),
    /// Unknown.
    Any,
}

/// `value, pattern if guard`, and the message of `assert_matches!`.
pub(crate) struct Matches {
    pub(crate) value: Expr,
    comma: Token![,],
    pub(crate) pat: Pat,
    pub(crate) guard: Option<(Token![if], Box<Expr>)>,
    end: Option<Token![,]>,
    pub(crate) message: List,
}

/// Reads the input of a macro call.
pub(crate) fn read(mac: &Macro) -> MacroInput {
    let name = mac.path.segments.last().map(|last| last.ident.to_string());
    let format = match name.as_deref().unwrap_or_default() {
        "stringify" => {
            return MacroInput {
                shape: Shape::Text,
                known: true,
            };
        }
        "matches" | "assert_matches" | "debug_assert_matches" => {
            if let Ok(matches) = mac.parse_body() {
                return MacroInput {
                    shape: Shape::Matches(matches),
                    known: true,
                };
            }
            None
        }
        "format" | "format_args" | "print" | "println" | "eprint" | "eprintln" | "panic"
        | "todo" | "unimplemented" | "unreachable" => Some(Format::At(0)),
        "write" | "writeln" | "assert" | "debug_assert" => Some(Format::At(1)),
        "assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne" => Some(Format::At(2)),
        "vec" | "join" | "try_join" => Some(Format::None),
        _ => None,
    };
    let list = Punctuated::parse_terminated.parse2(mac.tokens.clone());
    let shape = if let Ok(items) = list {
        let format = format.unwrap_or(Format::Any);
        Shape::List(List { items, format })
    } else if let Ok((item, semi, count)) = repeated.parse2(mac.tokens.clone()) {
        Shape::Repeat(item, semi, count)
    } else {
        Shape::Tokens
    };
    MacroInput {
        known: format.is_some() && !matches!(shape, Shape::Tokens),
        shape,
    }
}

/// The message of `assert!`, as further input. The macro would show the changed condition; this
/// shows the condition as written.
pub(crate) fn own_message(mac: &Macro) -> Option<TokenStream> {
    let name = &mac.path.segments.last()?.ident;
    let Shape::List(List { items, .. }) = read(mac).shape else {
        return None;
    };
    if items.len() != 1 || !(name == "assert" || name == "debug_assert") {
        return None;
    }
    let comma = (!items.trailing_punct()).then(<Token![,]>::default);
    let condition = written(mac);
    Some(quote::quote!(#comma "assertion failed: {}", #condition))
}

/// The only input of a macro, as written in the source if the source is known.
fn written(mac: &Macro) -> String {
    let source = || {
        let text = mac.delimiter.span().join().source_text()?;
        let inside = text.get(1..text.len().checked_sub(1)?)?;
        // The source of a macro by example is a template.
        let same = TokenStream::from_str(inside).ok()?.to_string() == mac.tokens.to_string();
        same.then(|| inside.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let text = source().unwrap_or_else(|| mac.tokens.to_string());
    text.trim().trim_end_matches(',').trim_end().to_owned()
}

/// The input of `vec![item; count]`.
fn repeated(input: ParseStream<'_>) -> syn::Result<(Expr, Token![;], Expr)> {
    Ok((input.parse()?, input.parse()?, input.parse()?))
}

impl Parse for Matches {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Self {
            value: input.parse()?,
            comma: input.parse()?,
            pat: input.call(Pat::parse_multi_with_leading_vert)?,
            guard: match input.parse()? {
                Some(token) => Some((token, input.parse()?)),
                None => None,
            },
            end: input.parse()?,
            message: List {
                items: input.call(Punctuated::parse_terminated)?,
                format: Format::At(0),
            },
        })
    }
}

impl ToTokens for Matches {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.value.to_tokens(tokens);
        self.comma.to_tokens(tokens);
        self.pat.to_tokens(tokens);
        if let Some((token, guard)) = &self.guard {
            token.to_tokens(tokens);
            guard.to_tokens(tokens);
        }
        self.end.to_tokens(tokens);
        self.message.items.to_tokens(tokens);
    }
}
