//! The code of a node with `retry`, `timeout` or `fallback`.

use std::collections::HashSet;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Ident};

use super::env::{Env, answer, written_type};
use crate::expand::emit::{own, respan, rt};
use crate::expand::ends::{Ends, question};
use crate::expand::lend::{expr, expr_that};
use crate::lower::Graph;
use crate::options::Retry;
use crate::traits::Traits;

/// The attempts of a node, and the replacement of its value if all fail.
pub(super) fn attempts(
    graph: &Graph,
    index: usize,
    written: &Expr,
    lent: &HashSet<Ident>,
    env: &Env,
) -> TokenStream {
    let rt = rt(&graph.parsed);
    let output = &graph.parsed.output;
    let options = &graph.steps()[index].options;
    let span = written.span();
    let traits = Traits::of_expr(written);
    let failed = emit!(::core::result::Result::Err::<::core::convert::Infallible, _>(__error));
    // The error of an attempt is that of the node's `?`. If there are several, it is that of
    // the graph.
    let (ends, success, error) = match traits.only_question() {
        Some(span) => (
            Ends::Attempt,
            emit!(::core::result::Result::Ok(__value)),
            question(graph, failed, span),
        ),
        None if traits.fails() => (
            Ends::Run,
            emit!(<#output as #rt::Outcome>::wrap(__value)),
            emit!(#failed?),
        ),
        None => (
            Ends::Run,
            emit!(::core::result::Result::Ok::<_, ::core::convert::Infallible>(__value)),
            emit!(__error),
        ),
    };
    let code = expr_that(graph, written, lent, ends);
    let code = answer(graph, index, env, code);
    let ty = written_type(graph, index, env);
    let attempt = emit!({ let __value #ty = #code; #success });
    let attempt = env.unless_scripted(attempt, &emit!(__scripted.result()));
    let late = match &options.timeout {
        Some(timeout) => {
            let output = respan(output, timeout.span);
            let late = emit!(__late);
            quote_spanned!(timeout.span=> #rt::late::<#output>(#late)?)
        }
        None => emit!(#rt::never_late(__late)),
    };
    let failed = match &options.fallback {
        Some(fallback) => {
            let fallback = env.locked(expr(graph, fallback, lent).into_token_stream());
            emit!(::core::result::Result::Err(_) => #fallback)
        }
        None => emit! {
            ::core::result::Result::Err(#rt::AttemptFailure::Error(__error)) => match #error {},
            ::core::result::Result::Err(#rt::AttemptFailure::TimedOut(__late)) => match #late {},
        },
    };
    let timeout = match &options.timeout {
        Some(timeout) => {
            let duration = expr(graph, &timeout.duration, lent);
            emit!(::core::option::Option::Some(#duration))
        }
        None => emit!(::core::option::Option::None),
    };
    let attempt = env.locked(attempt);
    let site = &env.site;
    let pass = match &env.pass {
        Some(pass) if env.leaves && options.fallback.is_some() => emit!(#pass.or_fallback()),
        Some(pass) => pass.clone(),
        None => emit!(#rt::Pass::free()),
    };
    let result = match &options.retry {
        Some(retry) => {
            let (retry, when) = again(graph, retry, lent);
            let (kept, lend) = keep(graph, index, env);
            let attempt = quote_spanned!(span=> || async { #(#lend)* #attempt });
            emit! {{
                #(#kept)*
                let __tried = #rt::attempts(#site, #retry, #timeout, #pass, #attempt, #when).await;
                __tried
            }}
        }
        None => {
            let attempt = quote_spanned!(span=> async { #attempt });
            emit!(#rt::once(#site, #timeout, #pass, #attempt).await)
        }
    };
    emit! {
        match #result {
            ::core::result::Result::Ok(__value) => __value,
            #failed
        }
    }
}
/// The exclusive inputs of a node that is retried, unless each attempt locks them: the slots
/// that keep them between attempts, and the code by which an attempt borrows them.
fn keep(graph: &Graph, index: usize, env: &Env) -> (Vec<TokenStream>, Vec<TokenStream>) {
    let rt = rt(&graph.parsed);
    let inputs = graph.inputs_of(index).into_iter();
    let exclusive = inputs.filter(|&value| graph.is_exclusive(value) && env.locks.is_none());
    let inputs = exclusive.map(|value| {
        let name = &graph.values[value].name;
        let (slot, guard) = (own("slot", name), own("kept", name));
        (
            emit!(let #slot = #rt::Slot::full(&mut *#name);),
            emit!(let mut #guard = #slot.borrow_mut(); let #name = &mut **#guard.value();),
        )
    });
    inputs.unzip()
}

/// How often a node is retried, and after which errors.
fn again(graph: &Graph, retry: &Retry, lent: &HashSet<Ident>) -> (TokenStream, TokenStream) {
    let rt = rt(&graph.parsed);
    let retries = expr(graph, &retry.retries, lent);
    let (pause, longest) = match &retry.backoff {
        Some((first, last)) => (
            expr(graph, first, lent).into_token_stream(),
            expr(graph, last, lent).into_token_stream(),
        ),
        None => {
            let zero = emit!(::core::time::Duration::ZERO);
            (zero.clone(), zero)
        }
    };
    let when = match &retry.when {
        Some(closure @ Expr::Closure(_)) => expr(graph, closure, lent).into_token_stream(),
        // Called with the error of the attempt, but does not determine its type.
        Some(function) => {
            let span = Span::mixed_site().located_at(function.span());
            let function = expr(graph, function, lent);
            quote_spanned!(span=> |__error: &_| (#function)(__error))
        }
        None => emit!(|_: &_| true),
    };
    (
        emit!(#rt::Retry { retries: #retries, pause: #pause, longest: #longest }),
        when,
    )
}
