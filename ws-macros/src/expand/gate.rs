//! What a pipeline adds to a node: its gates, and a thread for blocking code.

use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::spanned::Spanned;

use super::emit::{respan, rt};
use super::lend::{self, lent};
use super::node::{self, Env};
use super::parallel::signature::param;
use crate::gates::Batch;
use crate::lower::{Graph, Maker};

/// The value of a node, with its gates.
pub(super) fn value(graph: &Graph, step: usize) -> TokenStream {
    let options = &graph.steps()[step].options;
    let value = if let Some(batch) = &options.batch {
        gathered(graph, step, batch)
    } else if options.blocking.is_some() {
        let question = graph.parsed.fallible().then(|| emit!(?));
        let value = blocking(graph, step);
        emit!(#value #question)
    } else {
        node::value(graph, step, &Env::item(graph, step))
    };
    let Some(key) = &options.key else {
        return value;
    };
    let mut lent = lent(graph, step);
    if let Some(batch) = &options.batch {
        lent.remove(&batch.value);
    }
    let expr = lend::expr(graph, &key.expr, &lent);
    let hash = quote_spanned!(key.expr.span()=> &(#expr));
    emit! {{
        let __hash = __gates.hash(#step, #hash);
        let __turn = __run.key(#step, __hash).await;
        #value
    }}
}

/// The value of a node that blocks, as the payload of the graph's return type.
fn blocking(graph: &Graph, step: usize) -> TokenStream {
    let rt = rt(&graph.parsed);
    let output = &graph.parsed.output;
    let (pass, env) = Env::item(graph, step).split();
    let value = node::value(graph, step, &env);
    let value = if graph.parsed.fallible() {
        emit!(<#output as #rt::Outcome>::wrap(#value))
    } else {
        value
    };
    let shared = shared(graph, step);
    let (enter, leave) = match pass {
        Some(pass) => (
            emit!(let __pass = #pass; let __held = __gates.hold(#step, __pass.enter().await);),
            emit!(__pass.leave().await;),
        ),
        None => (emit!(let __held = ();), TokenStream::new()),
    };
    emit! {{
        #enter
        let __program = ::core::clone::Clone::clone(__program);
        let __code = move || { #(#shared)* #value };
        // The permit stays with the code, which cannot be stopped.
        let (__value, __held) = __gates.blocking(move || (__code(), __held)).await;
        #leave
        __value
    }}
}

/// The value of a node that is called once for many items.
fn gathered(graph: &Graph, step: usize, batch: &Batch) -> TokenStream {
    let rt = rt(&graph.parsed);
    let output = &graph.parsed.output;
    let name = &batch.value;
    let blocks = graph.steps()[step].options.blocking.is_some();
    let (value, fallible) = if blocks {
        (blocking(graph, step), graph.parsed.fallible())
    } else {
        let value = node::value(graph, step, &Env::item(graph, step));
        if graph.parsed.fallible() {
            (
                emit!(async { <#output as #rt::Outcome>::wrap(#value) }.await),
                true,
            )
        } else {
            (value, false)
        }
    };
    let (answers, failed) = if fallible {
        // rustc reports its errors about the graph's error type at the option.
        let (rt, output) = (respan(&rt, batch.span), respan(output, batch.span));
        let ended = quote_spanned!(batch.span=> #rt::ended::<#output>);
        (
            emit!(#rt::cause::<#output, _>(#value)),
            emit!(#ended(&__cause)?),
        )
    } else {
        let never = emit!(::core::convert::Infallible);
        (
            emit!(::core::result::Result::Ok::<_, #never>(#value)),
            emit!(*__cause),
        )
    };
    let shared = if blocks {
        Vec::new() // The inputs are where the code runs.
    } else {
        shared(graph, step)
    };
    let lent = lent(graph, step).contains(name);
    let lent = lent.then(|| emit!(let #name = &#name;));
    emit! {
        match __gates.batch(#step, #name, |#name| {
            let __program = ::core::clone::Clone::clone(__program);
            let __gates = ::core::clone::Clone::clone(__gates);
            async move {
                let (__program, __gates) = (&__program, &__gates);
                #(#shared)*
                #lent
                #answers
            }
        }).await {
            ::core::result::Result::Ok(__answer) => __answer,
            ::core::result::Result::Err(__cause) => match #failed {},
        }
    }
}

/// The shared inputs of a step, from `__program`.
fn shared(graph: &Graph, step: usize) -> Vec<TokenStream> {
    let inputs = graph.inputs_of(step).into_iter();
    let shared = inputs.filter(|&value| graph.is_shared_input(value));
    shared
        .map(|value| {
            if graph.is_exclusive(value) {
                return TokenStream::new(); // Locked behind the gates.
            }
            let Maker::Input(input) = graph.values[value].maker else {
                return TokenStream::new();
            };
            borrowed(graph, input)
        })
        .collect()
}

/// A `#[shared]` input. Each of its users may have a reference of its own, as the call of a
/// batch has.
pub(super) fn borrowed(graph: &Graph, input: usize) -> TokenStream {
    let (field, pat) = (param(&graph.parsed, input), &graph.parsed.inputs[input].pat);
    let used = graph
        .values
        .iter()
        .any(|value| value.maker == Maker::Input(input) && !value.users.is_empty());
    let allow = used.then(|| emit!(#[allow(unused_variables)]));
    emit!(#allow let #pat = &*__program.#field;)
}

/// A number that is checked when the graph is compiled.
pub(super) fn number(value: &syn::Expr, zero: &str) -> TokenStream {
    quote_spanned!(value.span()=> {
        const NUMBER: usize = #value;
        const _: () = ::core::assert!(NUMBER > 0, #zero);
        NUMBER
    })
}
