//! Nodes that can wait at the same time, on one task.
//!
//! Such nodes become async blocks that one poll loop drives (`Group`), with slots for the
//! values that they pass to each other.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::Ident;
use syn::spanned::Spanned;

use super::emit::{own, rt};
use super::lend::lent;
use super::mode::Mode;
use super::node;
use crate::lower::{Graph, Maker};
use crate::parse::{Kind, Node};

pub(super) fn group(graph: &Graph, steps: &[usize], mode: Mode) -> TokenStream {
    let rt = rt(&graph.parsed);
    let output = &graph.parsed.output;
    let fallible = graph.parsed.fallible();
    let slots = GroupSlots::new(graph, steps, mode);
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for &value in &slots.values {
        let name = &graph.values[value].name;
        let slot = own("slot", name);
        let kind = if slots.is_lent(value) {
            emit!(SharedSlot)
        } else {
            emit!(Slot)
        };
        if graph.is_exclusive(value) {
            before.push(emit!(let #slot = #rt::Slot::full(&mut *#name);));
            after.push(emit!(::core::mem::drop(#slot);));
            continue;
        }
        before.push(if slots.is_made_here(value) {
            emit!(let #slot = #rt::#kind::new();)
        } else {
            emit!(let #slot = #rt::#kind::full(#name);)
        });
        if !slots.is_moved_here(value) {
            let attrs = lints(graph, value);
            after.push(emit!(#attrs let #name = #slot.into_full();));
        }
    }
    let futures: Vec<Ident> = (0..steps.len())
        .map(|index| format_ident!("__node_{index}", span = Span::mixed_site()))
        .collect();
    let blocks = steps.iter().map(|&step| block(graph, step, &slots, mode));
    let polls = steps.iter().enumerate().map(|(index, &step)| {
        let future = &futures[index];
        let needs: Vec<usize> = graph
            .nearest_needs(step)
            .into_iter()
            .filter_map(|need| steps.iter().position(|&other| other == need))
            .collect();
        let poll = emit!(__group.poll(#index, &[#(#needs),*], #future.as_mut(), __cx));
        if fallible {
            emit! {
                if let ::core::option::Option::Some(__end) = #poll {
                    if let ::core::ops::ControlFlow::Break(__end) = <#output as #rt::Outcome>::split::<()>(__end) {
                        return ::core::task::Poll::Ready(::core::option::Option::Some(__end));
                    }
                }
            }
        } else {
            emit!(let _: ::core::option::Option<()> = #poll;)
        }
    });
    let count = steps.len();
    let exit = mode.exit(graph, steps[0], emit!(__end));
    let leave = mode.leave();
    emit! {
        #leave
        #(#before)*
        {
            #(let mut #futures = ::core::pin::pin!(#blocks);)*
            let mut __group = #rt::Group::<#count>::new();
            let __end: ::core::option::Option<#output> = ::core::future::poll_fn(|__cx| {
                #(#polls)*
                if __group.is_done() {
                    ::core::task::Poll::Ready(::core::option::Option::None)
                } else {
                    ::core::task::Poll::Pending
                }
            }).await;
            if let ::core::option::Option::Some(__end) = __end {
                return #exit;
            }
        }
        #(#after)*
    }
}

/// The lints of a value that leaves the group. A used value may be used only inside the group.
/// About an unused value, rustc warns at the node.
fn lints(graph: &Graph, value: usize) -> TokenStream {
    let value = &graph.values[value];
    match value.maker {
        Maker::Step(maker) if value.users.is_empty() => match &graph.steps()[maker].kind {
            Kind::Node(Node { attrs, .. }) => emit!(#(#attrs)*),
            Kind::Fence(_) | Kind::Tail(_) => TokenStream::new(),
        },
        Maker::Step(_) | Maker::Input(_) => emit!(#[allow(unused_variables)]),
    }
}

/// A node of a group.
fn block(graph: &Graph, step: usize, slots: &GroupSlots<'_>, mode: Mode) -> TokenStream {
    let rt = rt(&graph.parsed);
    let Kind::Node(node) = &graph.steps()[step].kind else {
        return TokenStream::new(); // Fences are never in a group.
    };
    let lent = lent(graph, step);
    let batch = graph.steps()[step].options.batch.as_ref();
    // The node may not use an input after all: behind a `cfg`, or in a macro.
    let allow = emit!(#[allow(unused_variables)]);
    let inputs: Vec<TokenStream> = graph
        .inputs_of(step)
        .into_iter()
        .map(|value| {
            let name = &graph.values[value].name;
            let (slot, guard) = (own("slot", name), own("lent", name));
            let borrow = lent.contains(name);
            let gathered = batch.is_some_and(|batch| batch.value == *name);
            if graph.is_exclusive(value) && mode == Mode::Item {
                return TokenStream::new(); // Locked behind the gates.
            }
            if graph.is_exclusive(value) {
                return emit!(let mut #guard = #slot.borrow_mut(); #allow let #name = &mut **#guard.value(););
            }
            let in_slot = slots.values.contains(&value);
            if in_slot && graph.values[value].mover != Some(step) {
                return emit!(let #guard = #slot.share(); #allow let #name = &*#guard;);
            }
            let taken = if in_slot { emit!(#slot.take()) } else { emit!(#name) };
            // The call of a batch has the values of all its items.
            let (taken, borrow) = match mode {
                Mode::Item if gathered => (taken, false),
                Mode::Item | Mode::Plain => (node::alone(graph, step, value, taken), borrow),
            };
            match (in_slot, borrow) {
                (false, _) if mode.is_reference(graph, value, step) => emit!(),
                (false, false) if !gathered => emit!(),
                (false, true) => emit!(#allow let #name = &#taken;),
                (true, true) => emit!(let #guard = #taken; #allow let #name = &#guard;),
                (_, false) => emit!(#allow let #name = #taken;),
            }
        })
        .chain(node::suggestions(graph, step))
        .collect();
    let value = mode.value(graph, step);
    let (enter, done) = (mode.enter(step), mode.done());
    let (attrs, pat) = (&node.attrs, &node.pat);
    let ty = node.ty.as_ref().map(|ty| emit!(: #ty));
    let outputs = graph.outputs_of(step).map(|value| {
        let name = &graph.values[value].name;
        let slot = own("slot", name);
        emit!(#slot.set(#name);)
    });
    let output = &graph.parsed.output;
    let end = graph
        .parsed
        .fallible()
        .then(|| emit!(<#output as #rt::Outcome>::wrap(())));
    let code = emit! {
        #enter
        #(#inputs)*
        #(#attrs)* let #pat #ty = #value;
        #(#outputs)*
        #done
        #end
    };
    // rustc reports errors about the whole block at the node.
    quote_spanned!(node.expr.span()=> async { #code })
}

/// The values of a group that are in slots: those that its nodes make, and those from above
/// that a node may move after other nodes of the group have borrowed them.
struct GroupSlots<'g> {
    graph: &'g Graph,
    steps: &'g [usize],
    values: Vec<usize>,
}

impl<'g> GroupSlots<'g> {
    fn new(graph: &'g Graph, steps: &'g [usize], mode: Mode) -> Self {
        let mut slots = Self {
            graph,
            steps,
            values: Vec::new(),
        };
        slots.values = (0..graph.values.len())
            .filter(|&value| {
                // An item locks its exclusive inputs.
                let exclusive = mode == Mode::Plain && graph.is_exclusive(value);
                slots.is_made_here(value)
                    || (exclusive && slots.is_used_here(value))
                    || (slots.is_moved_here(value) && slots.is_lent(value))
            })
            .collect();
        slots
    }

    fn is_used_here(&self, value: usize) -> bool {
        self.graph.values[value]
            .users
            .iter()
            .any(|user| self.steps.contains(user))
    }

    fn is_made_here(&self, value: usize) -> bool {
        matches!(self.graph.values[value].maker, Maker::Step(step) if self.steps.contains(&step))
    }

    fn is_moved_here(&self, value: usize) -> bool {
        self.graph.values[value]
            .mover
            .is_some_and(|mover| self.steps.contains(&mover))
    }

    fn is_lent(&self, value: usize) -> bool {
        let value = &self.graph.values[value];
        value
            .users
            .iter()
            .any(|user| Some(*user) != value.mover && self.steps.contains(user))
    }
}
