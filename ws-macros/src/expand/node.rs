//! The code of one node: its inputs, its expression, its options.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Ident, Stmt};

use super::rt;
use crate::lower::Graph;
use crate::names::{Position, walk_expr, walk_stmt};
use crate::options::Options;
use crate::parse::{Kind, Node};
use crate::traits::Traits;

/// Replaces the uses of values that are lent by what they borrow: `order` is bound to a
/// reference, and `order` in the expression means the value, so it becomes `*order`.
fn lend(name: &Ident, lent: &HashSet<Ident>) -> Option<Expr> {
    let span = name.span();
    lent.contains(name)
        .then(|| syn::parse2(quote_spanned!(span=> *#name)).expect("an expression"))
}

/// An expression in which the names in `lent` are references.
pub(super) fn lent_expr(expr: &Expr, lent: &HashSet<Ident>) -> Expr {
    let mut expr = expr.clone();
    if !lent.is_empty() {
        walk_expr(&mut expr, &mut |name: &Ident, _: Position| lend(name, lent));
    }
    expr
}

/// The same for a statement.
pub(super) fn lent_stmt(stmt: &Stmt, lent: &HashSet<Ident>) -> Stmt {
    let mut stmt = stmt.clone();
    if !lent.is_empty() {
        walk_stmt(&mut stmt, &mut |name: &Ident, _: Position| lend(name, lent));
    }
    stmt
}

/// The value of a node, options and all, for use inside of an async block.
pub(super) fn value(
    graph: &Graph,
    step: usize,
    lent: &HashSet<Ident>,
    timer: &TokenStream,
) -> TokenStream {
    let step = &graph.steps()[step];
    let Kind::Node(Node { expr, .. }) = &step.kind else {
        return TokenStream::new();
    };
    let expr = lent_expr(expr, lent);
    if !step.options.attempts() {
        return expr.into_token_stream();
    }
    let fallback = step
        .options
        .fallback
        .as_ref()
        .map(|fallback| lent_expr(fallback, lent));
    attempts(graph, &step.options, &expr, fallback.as_ref(), timer)
}

fn attempts(
    graph: &Graph,
    options: &Options,
    expr: &Expr,
    fallback: Option<&Expr>,
    timer: &TokenStream,
) -> TokenStream {
    let rt = rt(&graph.parsed);
    let output = &graph.parsed.output;
    // What fails and is tried again is the operand of the last `?`, with its own error;
    // if there is more than that one, it is the whole expression with the graph's error.
    let (attempt, error) = match expr {
        Expr::Try(last) if !Traits::of_expr(&last.expr).fails() => {
            let (operand, question) = (&last.expr, &last.question_token);
            (
                quote!(#operand),
                quote!(::core::result::Result::Err::<::core::convert::Infallible, _>(__error) #question),
            )
        }
        _ if Traits::of_expr(expr).fails() => (
            quote!(<#output as #rt::Outcome>::wrap(#expr)),
            quote!(::core::result::Result::Err::<::core::convert::Infallible, _>(__error)?),
        ),
        _ => (
            quote!(::core::result::Result::Ok::<_, ::core::convert::Infallible>(#expr)),
            quote!(__error),
        ),
    };
    let late = match &options.timeout {
        Some(timeout) => quote_spanned!(timeout.span=> #rt::late::<#output>(__late)?),
        None => quote!(#rt::never_late(__late)),
    };
    let failed = match fallback {
        Some(fallback) => quote!(::core::result::Result::Err(_) => #fallback),
        None => quote! {
            ::core::result::Result::Err(#rt::Failure::Error(__error)) => match #error {},
            ::core::result::Result::Err(#rt::Failure::TimedOut(__late)) => match #late {},
        },
    };
    let (retry, when) = retry(&rt, options);
    let timeout = match &options.timeout {
        Some(timeout) => {
            let duration = &timeout.duration;
            quote!(::core::option::Option::Some(#duration))
        }
        None => quote!(::core::option::Option::None),
    };
    quote! {
        match #rt::attempts(#timer, #retry, #timeout, #when, || async { #attempt }).await {
            ::core::result::Result::Ok(__value) => __value,
            #failed
        }
    }
}

fn retry(rt: &TokenStream, options: &Options) -> (TokenStream, TokenStream) {
    let Some(retry) = &options.retry else {
        return (quote!(#rt::Retry::NEVER), quote!(|_: &_| false));
    };
    let retries = &retry.retries;
    let zero = quote!(::core::time::Duration::ZERO);
    let (pause, longest) = retry.backoff.clone().unwrap_or((zero.clone(), zero));
    let when = match &retry.when {
        Some(when) => quote!(#when),
        None => quote!(|_: &_| true),
    };
    (
        quote!(#rt::Retry { retries: #retries, pause: #pause, longest: #longest }),
        when,
    )
}

/// Makes `return value` in a fence of a parallel run end the run, and not only the block
/// that the fence is compiled to.
pub(super) struct Returns<'a> {
    pub(super) exit: &'a dyn Fn(TokenStream) -> TokenStream,
}

impl VisitMut for Returns<'_> {
    fn visit_expr_return_mut(&mut self, ret: &mut syn::ExprReturn) {
        visit_mut::visit_expr_return_mut(self, ret);
        let value = ret.expr.take().map_or(quote!(()), |value| quote!(#value));
        let exit = (self.exit)(value);
        ret.expr = Some(Box::new(Expr::Verbatim(exit)));
    }

    // Their `return`s are their own.
    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
    fn visit_expr_async_mut(&mut self, _: &mut syn::ExprAsync) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
