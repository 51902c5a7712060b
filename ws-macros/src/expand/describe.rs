//! The graph as data, and as a picture in the function's documentation.

use proc_macro2::TokenStream;
use syn::ext::IdentExt;
use syn::{Attribute, Ident, Path};

use crate::draw;
use crate::lower::Graph;
use crate::parse::{Kind, Node, called};

/// The picture, as documentation.
pub(super) fn drawing(graph: &Graph) -> Vec<Attribute> {
    let picture = format!("<div>{}</div>", draw::svg(graph));
    vec![
        syn::parse_quote!(#[doc = ""]),
        syn::parse_quote!(#[doc = "# Graph"]),
        syn::parse_quote!(#[doc = ""]),
        syn::parse_quote!(#[doc = #picture]),
    ]
}

/// The module beside the function.
pub(super) fn module(graph: &Graph, rest: &TokenStream) -> TokenStream {
    let (vis, name) = (&graph.parsed.plain.vis, &graph.parsed.plain.sig.ident);
    let quiet = super::quiet();
    let description = description(graph);
    let docs = if graph.needs_stream() {
        // Without a function, this is where its documentation goes.
        let attrs = &graph.parsed.plain.attrs;
        let written = attrs.iter().filter(|attr| {
            ["doc", "cfg", "deprecated"]
                .iter()
                .any(|name| attr.path().is_ident(name))
        });
        written.cloned().chain(drawing(graph)).collect()
    } else {
        let doc = format!(
            "What else there is of the graph [`{0}`](fn@{0}).",
            name.unraw()
        );
        vec![syn::parse_quote!(#[doc = #doc])]
    };
    emit! {
        #(#docs)*
        #quiet
        #vis mod #name {
            #description
            #rest
        }
    }
}

fn description(graph: &Graph) -> TokenStream {
    let krate = &graph.parsed.args.krate;
    let path = emit!(#krate::graph);
    let name = graph.parsed.plain.sig.ident.unraw().to_string();
    let doc = if graph.needs_stream() {
        "The shape of the graph.".to_owned()
    } else {
        format!("The shape of [`{name}`](fn@super::{name}).")
    };
    let nodes = graph.steps().iter().map(|step| {
        let name = &step.name;
        let (kind, sub) = match &step.kind {
            Kind::Node(Node { expr, .. }) => (
                emit!(Let),
                called(expr).filter(|_| step.options.graph.is_some()),
            ),
            Kind::Fence(_) => (emit!(Fence), None),
            Kind::Tail(_) => (emit!(Output), None),
        };
        let sub = match sub.map(from_inside) {
            Some(sub) => emit!(::core::option::Option::Some(&#sub::GRAPH)),
            None => emit!(::core::option::Option::None),
        };
        emit!(#path::Node::new(#name, #path::NodeKind::#kind, #sub))
    });
    let edges = (0..graph.steps().len()).flat_map(|to| {
        let to_number = u32::try_from(to).unwrap_or(u32::MAX);
        graph.nearest_needs(to).into_iter().map(move |from| {
            let from = u32::try_from(from).unwrap_or(u32::MAX);
            emit!((#from, #to_number))
        })
    });
    let svg = draw::svg(graph);
    emit! {
        #[doc = #doc]
        pub static GRAPH: #path::Graph =
            #path::Graph::new(#name, &[#(#nodes),*], &[#(#edges),*], #svg);
    }
}

/// A path as it is written one module deeper.
fn from_inside(path: &Path) -> Path {
    let first: Option<&Ident> = path.segments.first().map(|segment| &segment.ident);
    let absolute = path.leading_colon.is_some() || first.is_some_and(|first| first == "crate");
    if first.is_some_and(|first| first == "self") {
        let rest = path.segments.iter().skip(1);
        return syn::parse_quote!(super::#(#rest)::*);
    }
    if absolute {
        path.clone()
    } else {
        syn::parse_quote!(super::#path)
    }
}
