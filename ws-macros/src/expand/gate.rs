//! What a pipeline adds to a node: its gates, a thread for what blocks, and `flat`.

use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::Ident;
use syn::spanned::Spanned;

use super::body::{self, Mode};
use super::node::{self, Env};
use super::parallel::signature::param;
use super::{own, rt};
use crate::gates::Batch;
use crate::lower::{Graph, Maker};
use crate::parse::{Kind, Node};

/// The value of a node, gates and all.
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
    let mut lent = node::lent(graph, step);
    if let Some(batch) = &options.batch {
        lent.remove(&batch.value);
    }
    let expr = node::expr(graph, &key.expr, &lent);
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
        // The permit goes with the code, which nobody stops.
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
        // What rustc says about the error, it says at the option.
        let (rt, output) = (
            node::respan(&rt, batch.span),
            node::respan(output, batch.span),
        );
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
        Vec::new() // They are where the code runs.
    } else {
        shared(graph, step)
    };
    let lent = node::lent(graph, step).contains(name);
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
                return TokenStream::new(); // locked behind the gates
            }
            let Maker::Input(input) = graph.values[value].maker else {
                return TokenStream::new();
            };
            borrowed(graph, input)
        })
        .collect()
}

/// A `#[shared]` input. Its users may all have their own, as the call of a batch has.
pub(super) fn borrowed(graph: &Graph, input: usize) -> TokenStream {
    let (field, pat) = (param(&graph.parsed, input), &graph.parsed.inputs[input].pat);
    let used = graph
        .values
        .iter()
        .any(|value| value.maker == Maker::Input(input) && !value.users.is_empty());
    let allow = used.then(|| emit!(#[allow(unused_variables)]));
    emit!(#allow let #pat = &*__program.#field;)
}

/// The exclusive inputs of a step, until the end of the block.
pub(super) fn locks(graph: &Graph, step: usize) -> Option<TokenStream> {
    lock(graph, step, |name| emit!(__program.#name))
}

/// The same, where each is in `handle`. All of them together: see `turns`.
pub(super) fn lock(
    graph: &Graph,
    step: usize,
    handle: impl Fn(&Ident) -> TokenStream,
) -> Option<TokenStream> {
    let rt = rt(&graph.parsed);
    let inputs = graph.inputs_of(step).into_iter();
    let exclusive = inputs.filter(|&value| graph.is_exclusive(value));
    let names: Vec<&Ident> = exclusive.map(|value| &graph.values[value].name).collect();
    let handles: Vec<TokenStream> = names.iter().map(|name| handle(name)).collect();
    let turns = names.iter().map(|name| own("turn", name));
    let turns: Vec<Ident> = turns.collect();
    let guards = names.iter().map(|name| own("lent", name));
    let guards: Vec<Ident> = guards.collect();
    (!names.is_empty()).then(|| {
        emit! {
            let [#(#turns),*] = #rt::turns([#(#rt::turn(&#handles)),*]).await;
            #(
                let mut #guards = #rt::enter(&#handles, #turns);
                #[allow(unused_variables)]
                let #names = &mut *#guards;
            )*
        }
    })
}

/// A node with `flat`, and what runs for each element.
pub(super) fn flat(graph: &Graph, step: usize, below: &TokenStream) -> TokenStream {
    let rt = rt(&graph.parsed);
    let output = &graph.parsed.output;
    let (Kind::Node(Node { pat, ty, attrs, .. }), Some(flat)) =
        (&graph.steps()[step].kind, &graph.steps()[step].options.flat)
    else {
        return TokenStream::new();
    };
    let mode = Mode::Item;
    let references = body::references(graph, step, mode);
    let (at, value, leave) = (mode.at(step), mode.value(graph, step), mode.leave());
    let at_once = match &flat.at_once {
        Some(at_once) => number(at_once, "0 elements at a time would never end"),
        None => emit!(1),
    };
    // The elements share what is above them.
    let above = (0..graph.values.len()).filter(|&value| {
        let used = |&user: &usize| graph.is_below_flat(user);
        graph.is_above_flat(value)
            && !graph.is_shared_input(value)
            && graph.values[value].users.iter().any(used)
    });
    let above = above.map(|value| {
        let name = &graph.values[value].name;
        emit!(#[allow(unused_variables)] let #name = &#name;)
    });
    let count = graph.steps().len();
    let ty = ty.as_ref().map(|ty| emit!(: #ty));
    let (flat, element) = if graph.parsed.fallible() {
        (
            emit!(#rt::flat::<#output, _, _, _>),
            emit!(#rt::element::<#output>),
        )
    } else {
        (emit!(#rt::flat_all), emit!(#rt::sure_element::<#output>))
    };
    emit! {
        let __elements = { #at #(#references)* let __value = #value; #leave __value };
        #(#above)*
        #flat(#at_once, __elements, move |__element| async move {
            let __states = <[#rt::AtomicU8; #count] as #rt::States>::new();
            let __below = __run.element(&__states);
            #element(&__below, async {
                let __run = &__below;
                #(#attrs)* let #pat #ty = __element;
                #below
            }).await
        }).await
    }
}

/// A number that is checked when the graph is compiled.
pub(super) fn number(value: &syn::Expr, zero: &str) -> TokenStream {
    quote_spanned!(value.span()=> {
        const NUMBER: usize = #value;
        const _: () = ::core::assert!(NUMBER > 0, #zero);
        NUMBER
    })
}
