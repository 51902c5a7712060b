//! The code of all nodes.
//!
//! All nodes become arms of one async block, of which the runtime makes a future for each node.
//! So their types are inferred together, as in the function as written: the arm of a node
//! determines the type of its slot, and the arms of its users come later.

use proc_macro2::{Literal, Span, TokenStream};
use quote::quote_spanned;
use syn::Pat;
use syn::visit_mut::VisitMut;

use super::plan::number;
use super::run::{public, target, written_type};
use super::signature::Signature;
use crate::expand::emit::{own, rt};
use crate::expand::ends::Returns;
use crate::expand::lend::{self, lent};
use crate::expand::locks::lock;
use crate::expand::node::{self, Env};
use crate::lower::{Graph, Maker};
use crate::parse::Kind;

/// The function that all runs share. All types are inferred in it, and only in it.
pub(super) fn start(graph: &Graph) -> TokenStream {
    let parsed = &graph.parsed;
    let rt = rt(parsed);
    let Signature {
        generics,
        params,
        args,
    } = Signature::new(parsed);
    let (impl_generics, _, clause) = generics.split_for_impl();
    let output = &parsed.output;
    let items = &parsed.items;
    let count = graph.steps().len();
    let types = public(graph)
        .into_iter()
        .filter_map(|value| written_type(graph, value));
    let picks = public(graph).into_iter().map(|value| {
        let index = Literal::usize_unsuffixed(value);
        let number = target(value);
        emit!((__target == #number).then(|| __values.#index.take()))
    });
    // Patterns of inputs are destructured here, so that each name is a value.
    let patterns = parsed
        .inputs
        .iter()
        .zip(&args)
        .filter_map(|(input, arg)| match &input.pat {
            Pat::Ident(_) => None,
            pat => Some(emit!(let #pat = #arg;)),
        });
    let slots = (0..graph.values.len()).map(|value| {
        let name = &graph.values[value].name;
        match (graph.values[value].maker, is_shared(graph, value)) {
            (Maker::Input(_), true) => emit!(#rt::Parallel::full_shared(#name)),
            (Maker::Input(_), false) => emit!(#rt::Parallel::<#rt::Slot<_>>::full(#name)),
            (Maker::Step(_), true) => emit!(#rt::Parallel::new_shared()),
            (Maker::Step(_), false) => emit!(#rt::Parallel::<#rt::Slot<_>>::new()),
        }
    });
    let arms = graph.order.iter().map(|&step| arm(graph, step));
    // rustc reports a node that borrows from another node first where the node is: the code
    // around the nodes has spans below them.
    let below = at(parsed.plain.block.brace_token.span.close());
    let (go, end) = if parsed.fallible() {
        (
            emit!(#rt::go::<#output>()),
            emit!(#rt::end::<#output>(__node.await)),
        )
    } else {
        (
            emit!(#rt::Flow::<#output>::Continue(())),
            emit!(__node.await),
        )
    };
    let program = quote_spanned! {below=>
        |__own, __step| async move {
            // The node borrows the branch's reference to the run, and returns it.
            let __flow = {
                let __ctx = &__own;
                let __node = async {
                    let __values = __ctx.state();
                    match __step {
                        #(#arms)*
                        _ => #rt::unknown_step(),
                    }
                    #go
                };
                #end
            };
            (__own, __flow)
        }
    };
    emit! {
        #[doc(hidden)]
        fn __start #impl_generics (
            __bound: #rt::Bound<__S>,
            __plan: &'static #rt::Plan<#count>,
            __target: u32,
            #params
        ) -> impl ::core::future::Future<
            Output = #rt::Ended<#output, (#(::core::option::Option<#types>,)*)>
        > + ::core::marker::Send
        #clause
        {
            #(#items)*
            #(#patterns)*
            let __values = (#(#slots,)*);
            async move {
                let __run = #rt::start(__bound, __plan, __values, #program);
                match __run.await {
                    #rt::Ended::Exit(__result) => #rt::Ended::Exit(__result),
                    #rt::Ended::Late => #rt::Ended::Late,
                    #rt::Ended::Complete(__values) => #rt::Ended::Complete((#(#picks,)*)),
                }
            }
        }
    }
}

/// Spans for generated names, at a position in the user's code.
fn at(place: Span) -> Span {
    Span::mixed_site().located_at(place)
}

/// Whether several nodes may use a value at once.
fn is_shared(graph: &Graph, value: usize) -> bool {
    graph.is_shared_input(value) || graph.is_lent(value)
}

/// The code of a step.
fn arm(graph: &Graph, index: usize) -> TokenStream {
    let step = &graph.steps()[index];
    let rt = rt(&graph.parsed);
    let output = &graph.parsed.output;
    let lent = lent(graph, index);
    let inputs: Vec<TokenStream> = graph
        .inputs_of(index)
        .into_iter()
        .map(|value| {
            let name = &graph.values[value].name;
            let (slot, mut guard) = (Literal::usize_unsuffixed(value), own("lent", name));
            // An error about a borrow is reported where the value is used.
            let used = graph.uses[index].iter();
            let used = used.filter(|used| used.value == Some(value));
            let used = used.map(|used| at(used.name.span())).next();
            let used = used.unwrap_or(Span::mixed_site());
            guard.set_span(used);
            if graph.is_exclusive(value) {
                let handle = own("exclusive", name);
                emit!(let #handle = __values.#slot.share();)
            } else if graph.is_shared_input(value) {
                // The user's name is a reference already, and the slot holds an `Arc`.
                emit!(let #guard = __values.#slot.share(); let #name = &**#guard;)
            } else if graph.values[value].mover != Some(index) {
                quote_spanned!(used=> let #guard = __values.#slot.share(); let #name = &*#guard;)
            } else {
                let taken = node::alone(graph, index, value, emit!(__values.#slot.take()));
                if lent.contains(name) {
                    emit!(let #guard = #taken; let #name = &#guard;)
                } else {
                    emit!(let #name = #taken;)
                }
            }
        })
        .chain(lock(graph, index, |name| {
            let handle = own("exclusive", name);
            emit!(#handle)
        }))
        .chain(node::suggestions(graph, index))
        .collect();
    let exit = |value: TokenStream| {
        if graph.parsed.fallible() {
            emit!(#rt::exit::<#output>(#value))
        } else {
            emit!(#rt::Flow::<#output>::Break(#value))
        }
    };
    let code = match &step.kind {
        Kind::Node(node) => {
            let value = node_value(graph, index, &inputs);
            let (attrs, pat) = (&node.attrs, &node.pat);
            let ty = node.ty.as_ref().map(|ty| emit!(: #ty));
            let outputs = graph.outputs_of(index).map(|value| {
                let name = &graph.values[value].name;
                let mut slot = Literal::usize_unsuffixed(value);
                slot.set_span(at(name.span()));
                quote_spanned!(at(name.span())=> __values.#slot.set(#name);)
            });
            emit!(#(#attrs)* let #pat #ty = #value; #(#outputs)*)
        }
        Kind::Fence(stmt) => {
            let mut stmt = stmt.clone();
            Returns { exit: &exit }.visit_stmt_mut(&mut stmt);
            let stmt = lend::stmt(graph, &stmt, &lent);
            // A fence without `;` is still a statement.
            emit!(#stmt;)
        }
        Kind::Tail(expr) => {
            let mut expr = expr.clone();
            Returns { exit: &exit }.visit_expr_mut(&mut expr);
            let expr = lend::expr(graph, &expr, &lent);
            let exit = exit(emit!(__result));
            emit!(let __result: #output = #expr; return #exit;)
        }
    };
    let number = number(index);
    // The inputs of a node that blocks are where its code runs.
    let inputs = if step.options.blocking.is_some() {
        Vec::new()
    } else {
        inputs
    };
    emit!(#number => { #(#inputs)* #code })
}

/// The value of a node: on this branch, on another thread, or by a run of another graph.
fn node_value(graph: &Graph, index: usize, inputs: &[TokenStream]) -> TokenStream {
    let step = &graph.steps()[index];
    let rt = rt(&graph.parsed);
    let output = &graph.parsed.output;
    let limit = graph.limited().iter().position(|&limited| limited == index);
    let pass = limit.map(|limit| emit!(#rt::Pass::limit(__ctx.limit(#limit))));
    if step.options.blocking.is_none() {
        return node::value(graph, index, &Env::parallel(graph, index, pass));
    }
    let value = node::value(graph, index, &Env::parallel(graph, index, None));
    // The permit stays with the code, which a cancelled run does not stop.
    let permit = limit.map(|limit| emit!(let __held = __ctx.hold(#limit, #pass.enter().await);));
    let held = limit.map(|_| emit!(let __held = __held;));
    let (value, end) = if graph.parsed.fallible() {
        (emit!(<#output as #rt::Outcome>::wrap(#value)), emit!(?))
    } else {
        (value, emit!())
    };
    emit! {{
        #permit
        let __own = ::core::clone::Clone::clone(__ctx);
        __ctx.blocking(#index, move || {
            #held
            let __ctx = &__own;
            let __values = __ctx.state();
            #(#inputs)*
            #value
        }).await #end
    }}
}
