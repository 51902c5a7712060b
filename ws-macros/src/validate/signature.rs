//! The signature of a function.

use syn::visit::Visit;
use syn::{Lifetime, Pat, ReturnType, Type, TypeReference};

use crate::errors::Errors;
use crate::lower::{Graph, Maker};

/// The function is `async`.
pub(super) fn not_async(graph: &Graph, errors: &mut Errors) {
    let sig = &graph.parsed.plain.sig;
    if sig.asyncness.is_none() {
        errors.at(
            sig.fn_token,
            format!(
                "`#[task_graph]` goes on an `async fn`\nhelp: write `async fn {}`",
                sig.ident
            ),
        );
    }
}

/// The function is not `unsafe`, `extern`, `const` or variadic.
pub(super) fn plain_function(graph: &Graph, errors: &mut Errors) {
    let sig = &graph.parsed.plain.sig;
    if let Some(token) = &sig.unsafety {
        errors.at(
            token,
            "a graph is a safe function: put `unsafe` blocks into the nodes that need them",
        );
    }
    if let Some(token) = &sig.abi {
        errors.at(
            token,
            "a graph is a Rust function, without an ABI of its own",
        );
    }
    if let Some(token) = &sig.constness {
        errors.at(token, "a graph cannot be `const`");
    }
}

/// Inputs are owned, because nodes may run on other threads and outlive the caller.
pub(super) fn borrowed_input(graph: &Graph, errors: &mut Errors) {
    if graph.parsed.args.local {
        return;
    }
    for input in graph
        .parsed
        .inputs
        .iter()
        .filter(|input| input.shared.is_none())
    {
        for borrow in borrows(&input.ty) {
            let (at, help) = match &borrow {
                Borrow::Reference(reference) => {
                    let target = &reference.elem;
                    let target = crate::errors::tidy(quote::quote!(#target));
                    (
                        quote::quote!(#reference),
                        format!("take `Arc<{target}>`, or mark the input `#[shared]`"),
                    )
                }
                Borrow::Lifetime(lifetime) => (
                    quote::quote!(#lifetime),
                    "take a type that borrows nothing, or make the graph `#[task_graph(local)]`"
                        .to_owned(),
                ),
            };
            errors.at(
                at,
                format!("a graph owns its inputs, because its nodes may run on other threads\nhelp: {help}"),
            );
        }
    }
}

/// `#[shared]` inputs must be references.
pub(super) fn shared_input(graph: &Graph, errors: &mut Errors) {
    for input in &graph.parsed.inputs {
        if input.shared.is_some() && !matches!(input.ty, Type::Reference(_)) {
            errors.at(
                &input.ty,
                "a `#[shared]` input is a reference: `&T`, borrowed by every node that uses it",
            );
        }
        if let (Some(_), Type::Reference(reference)) = (&input.shared, &input.ty) {
            for borrow in borrows(&reference.elem) {
                errors.at(
                    borrow.tokens(),
                    "what a `#[shared]` input refers to is owned: it borrows nothing itself",
                );
            }
        }
    }
}

/// A `#[shared]` input must have one name, which becomes the name of a field of `Shared`.
pub(super) fn shared_pattern(graph: &Graph, errors: &mut Errors) {
    for input in &graph.parsed.inputs {
        let named = match &input.pat {
            Pat::Ident(pat) => pat.by_ref.is_none() && pat.subpat.is_none(),
            Pat::Wild(_) => true,
            _ => false,
        };
        if input.shared.is_some() && !named {
            errors.at(
                &input.pat,
                "a `#[shared]` input is not taken apart here\n\
                 help: give it a name, and write `name.field` in the nodes",
            );
        }
    }
}

/// A `&mut` input has one user at a time, and must say so.
pub(super) fn exclusive_input(graph: &Graph, errors: &mut Errors) {
    for (index, input) in graph.parsed.inputs.iter().enumerate() {
        let (Some(shared), Type::Reference(reference)) = (&input.shared, &input.ty) else {
            continue;
        };
        match (&reference.mutability, shared.exclusive) {
            (Some(token), false) => {
                let message = match two_users(graph, index) {
                    Some((first, second)) => format!(
                        "nodes `{first}` and `{second}` are not ordered and may not both change this\n\
                         help: mark the input `#[shared(exclusive)]`, and its users run one after the other"
                    ),
                    None => "a `&mut` input is `#[shared(exclusive)]`".to_owned(),
                };
                errors.at(token, message);
            }
            (None, true) => {
                errors.at(
                    reference.and_token,
                    "an exclusive input is `&mut`; one that is only read is `#[shared]`",
                );
            }
            _ => {}
        }
    }
}

/// Two users of an input that are not ordered.
fn two_users(graph: &Graph, input: usize) -> Option<(&str, &str)> {
    let users = &graph
        .values
        .iter()
        .find(|value| value.maker == Maker::Input(input))?
        .users;
    users.iter().enumerate().find_map(|(i, &first)| {
        let second = users[i + 1..]
            .iter()
            .find(|&&second| !graph.ancestors[second][first])?;
        Some((
            graph.steps()[first].name.as_str(),
            graph.steps()[*second].name.as_str(),
        ))
    })
}

/// The result must be owned, too, and of a type that can be named.
pub(super) fn owned_result(graph: &Graph, errors: &mut Errors) {
    let ReturnType::Type(_, ty) = &graph.parsed.plain.sig.output else {
        return;
    };
    if graph.parsed.args.local {
        return;
    }
    for borrow in borrows(ty) {
        errors.hide_run = true;
        errors.at(
            borrow.tokens(),
            "a graph returns an owned value, because its nodes may run on other threads",
        );
    }
    struct Opaque<'e>(&'e mut Errors);
    impl<'ast> Visit<'ast> for Opaque<'_> {
        fn visit_type_impl_trait(&mut self, ty: &'ast syn::TypeImplTrait) {
            self.0.hide_run = true;
            self.0.at(
                ty,
                "the result of a graph has a type with a name: write it, or a `Box<dyn …>`",
            );
        }
    }
    Opaque(errors).visit_type(ty);
}

/// A part of a type that borrows.
enum Borrow {
    Reference(TypeReference),
    Lifetime(Lifetime),
}

impl Borrow {
    fn tokens(&self) -> proc_macro2::TokenStream {
        match self {
            Self::Reference(reference) => quote::quote!(#reference),
            Self::Lifetime(lifetime) => quote::quote!(#lifetime),
        }
    }
}

/// The parts of a type that borrow for less than `'static`. The references in the signature of
/// a function type do not borrow.
fn borrows(ty: &Type) -> Vec<Borrow> {
    struct Find(Vec<Borrow>);
    impl<'ast> Visit<'ast> for Find {
        fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
            if reference
                .lifetime
                .as_ref()
                .is_some_and(|lifetime| lifetime.ident == "static")
            {
                self.visit_type(&reference.elem);
            } else {
                self.0.push(Borrow::Reference(reference.clone()));
            }
        }
        fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
            if lifetime.ident != "static" {
                self.0.push(Borrow::Lifetime(lifetime.clone()));
            }
        }
        fn visit_type_bare_fn(&mut self, _: &'ast syn::TypeBareFn) {}
        fn visit_type_param_bound(&mut self, bound: &'ast syn::TypeParamBound) {
            // `dyn Fn(&T)`, `impl Fn(&T)`: as for function types.
            if let syn::TypeParamBound::Lifetime(lifetime) = bound {
                self.visit_lifetime(lifetime);
            }
        }
    }
    let mut find = Find(Vec::new());
    find.visit_type(ty);
    find.0
}
