//! The function itself: its nodes on the calling task.
//!
//! Where only one node can run, it is emitted as it was written; its value is a local
//! variable and costs nothing. Where several can, they become async blocks that one poll
//! loop drives (`Group`), with slots for the values that they pass to each other. All
//! other values they capture like any async block, so what the compiler says about them
//! is what it always says.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Ident};

use super::node::{self, Env};
use super::{own, rt};
use crate::lower::{Graph, Maker};
use crate::parse::Kind;

/// What is emitted together.
enum Section {
    Straight(usize),
    Group(Vec<usize>),
}

pub(super) fn function(graph: &Graph) -> TokenStream {
    let mut function = graph.parsed.plain.clone();
    let items = &graph.parsed.items;
    let sections = sections(graph).into_iter().map(|section| match section {
        Section::Straight(step) => straight(graph, step),
        Section::Group(steps) => group(graph, &steps),
    });
    let docs = super::describe::drawing(graph);
    function.attrs.extend(docs);
    // Values that are lent are dereferenced, also where that was not necessary.
    function.attrs.push(syn::parse_quote!(
        #[allow(clippy::borrow_deref_ref, clippy::explicit_auto_deref)]
    ));
    *function.block = syn::parse_quote!({ #(#items)* #(#sections)* });
    emit!(#function)
}

/// Cuts the steps where one waits for all since the last cut. What lies between two cuts
/// and can wait for several things at once is a group.
fn sections(graph: &Graph) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for &step in &graph.order {
        if open.iter().all(|&before| graph.ancestors[step][before]) {
            close(graph, &mut open, &mut sections);
        }
        open.push(step);
    }
    close(graph, &mut open, &mut sections);
    sections
}

fn close(graph: &Graph, open: &mut Vec<usize>, sections: &mut Vec<Section>) {
    let awaits = |step: usize| {
        let step = &graph.steps()[step];
        step.traits.awaits || step.options.attempts()
    };
    let mut steps = std::mem::take(open);
    // What does not wait and stands first needs no company.
    let first = steps
        .iter()
        .position(|&step| awaits(step))
        .unwrap_or(steps.len());
    sections.extend(steps.drain(..first).map(Section::Straight));
    if steps.len() > 1 {
        sections.push(Section::Group(steps));
    } else {
        sections.extend(steps.into_iter().map(Section::Straight));
    }
}

fn straight(graph: &Graph, index: usize) -> TokenStream {
    let lent = node::lent(graph, index);
    // Values that this step does not own by the rules it does not own here either.
    let references: Vec<TokenStream> = graph
        .inputs_of(index)
        .into_iter()
        .map(|value| &graph.values[value].name)
        .filter(|name| lent.contains(name))
        .map(|name| emit!(let #name = &#name;))
        .collect();
    let inside = |code: TokenStream| {
        if references.is_empty() {
            code
        } else {
            emit!({ #(#references)* #code })
        }
    };
    match &graph.steps()[index].kind {
        Kind::Fence(stmt) => {
            let stmt = node::stmt(graph, stmt, &lent);
            inside(emit!(#stmt))
        }
        // A body without a result needs none.
        Kind::Tail(Expr::Tuple(unit)) if unit.elems.is_empty() => TokenStream::new(),
        Kind::Tail(expr) => {
            let expr = node::expr(graph, expr, &lent);
            emit!(#expr)
        }
        Kind::Node(node) => {
            let value = inside(node::value(graph, index, &Env::plain(graph)));
            let (attrs, pat) = (&node.attrs, &node.pat);
            let ty = node.ty.as_ref().map(|ty| emit!(: #ty));
            emit!(#(#attrs)* let #pat #ty = #value;)
        }
    }
}

fn group(graph: &Graph, steps: &[usize]) -> TokenStream {
    let rt = rt(&graph.parsed);
    let output = &graph.parsed.output;
    let fallible = graph.parsed.fallible();
    let slots = GroupSlots::new(graph, steps);
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
            after.push(emit!(let #name = #slot.into_full();));
        }
    }
    let futures: Vec<Ident> = (0..steps.len())
        .map(|index| format_ident!("__node_{index}", span = Span::mixed_site()))
        .collect();
    let blocks = steps.iter().map(|&step| block(graph, step, &slots));
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
    emit! {
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
                return __end;
            }
        }
        #(#after)*
    }
}

/// A node of a group.
fn block(graph: &Graph, step: usize, slots: &GroupSlots<'_>) -> TokenStream {
    let rt = rt(&graph.parsed);
    let Kind::Node(node) = &graph.steps()[step].kind else {
        return TokenStream::new(); // fences are never in a group
    };
    let lent = node::lent(graph, step);
    let inputs: Vec<TokenStream> = graph
        .inputs_of(step)
        .into_iter()
        .map(|value| {
            let name = &graph.values[value].name;
            let (slot, guard) = (own("slot", name), own("lent", name));
            let borrow = lent.contains(name);
            if graph.is_exclusive(value) {
                return emit!(let mut #guard = #slot.borrow_mut(); let #name = &mut **#guard.value(););
            }
            match (slots.values.contains(&value), borrow) {
                (false, false) => emit!(),
                (false, true) => emit!(let #name = &#name;),
                (true, _) if graph.values[value].mover != Some(step) => {
                    emit!(let #guard = #slot.share(); let #name = &*#guard;)
                }
                (true, false) => emit!(let #name = #slot.take();),
                (true, true) => emit!(let #guard = #slot.take(); let #name = &#guard;),
            }
        })
        .collect();
    let value = node::value(graph, step, &Env::plain(graph));
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
        #(#inputs)*
        #(#attrs)* let #pat #ty = #value;
        #(#outputs)*
        #end
    };
    // What rustc says about the block as a whole, it says at the node.
    quote_spanned!(node.expr.span()=> async { #code })
}

/// Which values of a group are in slots: those that it makes, and those from above that
/// one of its nodes may move after others of its nodes have borrowed them.
struct GroupSlots<'g> {
    graph: &'g Graph,
    steps: &'g [usize],
    values: Vec<usize>,
}

impl<'g> GroupSlots<'g> {
    fn new(graph: &'g Graph, steps: &'g [usize]) -> Self {
        let mut slots = Self {
            graph,
            steps,
            values: Vec::new(),
        };
        slots.values = (0..graph.values.len())
            .filter(|&value| {
                slots.is_made_here(value)
                    || (graph.is_exclusive(value) && slots.is_used_here(value))
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
