//! A node with `flat`: the steps below run for each element.

use proc_macro2::TokenStream;

use super::emit::rt;
use super::gate::number;
use super::mode::{Mode, references};
use crate::lower::Graph;
use crate::parse::{Kind, Node};

/// Emits a node with `flat`, and the code for each element.
pub(super) fn flat(graph: &Graph, step: usize, below: &TokenStream) -> TokenStream {
    let rt = rt(&graph.parsed);
    let output = &graph.parsed.output;
    let (Kind::Node(Node { pat, ty, attrs, .. }), Some(flat)) =
        (&graph.steps()[step].kind, &graph.steps()[step].options.flat)
    else {
        return TokenStream::new();
    };
    let mode = Mode::Item;
    let references = references(graph, step, mode);
    let (at, value, leave) = (mode.at(step), mode.value(graph, step), mode.leave());
    let at_once = match &flat.at_once {
        Some(at_once) => number(at_once, "0 elements at a time would never end"),
        None => emit!(1),
    };
    // The elements share the values from above.
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
