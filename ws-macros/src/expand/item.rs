//! The runs for items of a stream: `bind`, `Shared`, and the code for an item.
//!
//! `Shared` and `bind` are in the module, where the user's types cannot be named. So `Shared`
//! is generic over the types of its fields. Beside the function, [`program`] implements the
//! runtime's `Program` for it, with the types of the inputs.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Generics, Ident, Type};

use super::body::body;
use super::emit::{quiet, rt};
use super::lend::lent;
use super::mode::Mode;
use super::parallel::signature::{Signature, owned, param};
use super::{gate, node};
use crate::lower::Graph;
use crate::parse::{Input, Parsed};

/// The code inside the module, and the code beside it.
pub(super) fn all(graph: &Graph) -> (TokenStream, TokenStream) {
    let shared = shared(&graph.parsed);
    match unbindable(graph) {
        None => {
            let bind = bind(&graph.parsed);
            (emit!(#shared #bind), program(graph))
        }
        Some(why) => {
            let trap = trap(&graph.parsed, &why);
            (emit!(#shared #trap), TokenStream::new())
        }
    }
}

/// The reason why the graph cannot be a pipeline, if there is one.
pub(crate) fn unbindable(graph: &Graph) -> Option<String> {
    let parsed = &graph.parsed;
    let items: Vec<&Input> = items(parsed).collect();
    let [item] = items[..] else {
        return Some(format!(
            "it has {} inputs that are not `#[shared]`, and an item is one",
            items.len()
        ));
    };
    if has_impl_trait(&item.ty) {
        return Some("the type of its item has no name".to_owned());
    }
    if shared_inputs(parsed).any(|(_, input)| has_impl_trait(&input.ty)) {
        return Some("the type of a `#[shared]` input has no name".to_owned());
    }
    let generics = &parsed.plain.sig.generics;
    let unknown = |param: &&Ident| !parsed.inputs.iter().any(|input| fixes(&input.ty, param));
    if let Some(param) = params(generics).find(unknown) {
        return Some(format!("none of its inputs says what `{param}` is"));
    }
    (0..graph.steps().len()).find_map(|step| {
        graph.steps()[step].options.blocking?;
        let lent = lent(graph, step).into_iter().min()?;
        let step = &graph.steps()[step].name;
        Some(format!(
            "node `{step}` blocks a thread and borrows `{lent}`, which would have to live until it is done"
        ))
    })
}

fn items(parsed: &Parsed) -> impl Iterator<Item = &Input> {
    parsed.inputs.iter().filter(|input| input.shared.is_none())
}

fn shared_inputs(parsed: &Parsed) -> impl Iterator<Item = (usize, &Input)> {
    let inputs = parsed.inputs.iter().enumerate();
    inputs.filter(|(_, input)| input.shared.is_some())
}

fn params(generics: &Generics) -> impl Iterator<Item = &Ident> {
    let types = generics.type_params().map(|param| &param.ident);
    types.chain(generics.const_params().map(|param| &param.ident))
}

fn has_impl_trait(ty: &Type) -> bool {
    struct Find(bool);
    impl<'ast> Visit<'ast> for Find {
        fn visit_type_impl_trait(&mut self, _: &'ast syn::TypeImplTrait) {
            self.0 = true;
        }
    }
    let mut find = Find(false);
    find.visit_type(ty);
    find.0
}

/// Whether a type determines a parameter: it names the parameter itself, and not only a part of
/// it such as `T::Item`.
fn fixes(ty: &Type, param: &Ident) -> bool {
    struct Find<'a>(&'a Ident, bool);
    impl<'ast> Visit<'ast> for Find<'_> {
        fn visit_type_path(&mut self, path: &'ast syn::TypePath) {
            if path.qself.is_none() {
                self.1 |= path.path.is_ident(self.0);
                syn::visit::visit_type_path(self, path);
            }
        }
        fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
            self.1 |= path.path.is_ident(self.0);
        }
    }
    let mut find = Find(param, false);
    find.visit_type(ty);
    find.1
}

/// The type parameters of the fields of `Shared`. They are numbered: two field names may differ
/// only in characters that names of types do not have.
fn parameters(parsed: &Parsed) -> Vec<Ident> {
    shared_inputs(parsed)
        .map(|(index, _)| format_ident!("T{index}"))
        .collect()
}

fn shared(parsed: &Parsed) -> TokenStream {
    let name = parsed.plain.sig.ident.unraw();
    let doc = format!("The `#[shared]` inputs of `{name}`, for all items of a pipeline.");
    let fields: Vec<Ident> = shared_inputs(parsed)
        .map(|(index, _)| param(parsed, index))
        .collect();
    let types = parameters(parsed);
    let docs = shared_inputs(parsed).map(|(_, input)| {
        let exclusive = input.shared.as_ref().is_some_and(|shared| shared.exclusive);
        let holder = if exclusive { "Exclusive" } else { "Arc" };
        let target = match &input.ty {
            Type::Reference(reference) => &reference.elem,
            other => other,
        };
        let target = crate::errors::tidy(quote::ToTokens::to_token_stream(target));
        format!("An `{holder}<{target}>`.")
    });
    emit! {
        #[doc = #doc]
        #[derive(Clone, Debug)]
        pub struct Shared<#(#types),*> {
            #(#[doc = #docs] pub #fields: #types,)*
        }
    }
}

fn bind(parsed: &Parsed) -> TokenStream {
    let (rt, krate) = (rt(parsed), &parsed.args.krate);
    let name = parsed.plain.sig.ident.unraw();
    let doc = format!("A pipeline that runs `{name}` for every item of a stream, on `spawner`.");
    let types = parameters(parsed);
    emit! {
        #[doc = #doc]
        pub fn bind<__S, __I, __O, __E #(, #types)*>(
            spawner: &__S,
            shared: Shared<#(#types),*>,
        ) -> #krate::pipeline::Builder<#rt::Items<Shared<#(#types),*>, __I, __O, __E>, __S>
        where
            Shared<#(#types),*>: #rt::Program<__I, __O, __E>,
            __I: ::core::marker::Send + 'static,
            __O: ::core::marker::Send + 'static,
            __E: ::core::marker::Send + 'static,
            __S: #rt::Spawn + ::core::clone::Clone + ::core::marker::Send + ::core::marker::Sync + 'static,
        {
            #krate::pipeline::Builder::new(spawner, #rt::Items::new(shared))
        }
    }
}

/// A `bind` whose error message says why the graph has none.
fn trap(parsed: &Parsed, why: &str) -> TokenStream {
    let name = parsed.plain.sig.ident.unraw();
    let message = format!("`{name}` cannot be bound to a stream: {why}");
    emit! {
        #[doc(hidden)]
        #[diagnostic::on_unimplemented(message = #message, label = "there is no pipeline of this graph")]
        pub trait __Bound {}

        #[doc(hidden)]
        pub fn bind<S, T>(spawner: &S, shared: T) -> T
        where
            S: __Bound,
        {
            shared
        }
    }
}

/// The code for an item.
fn program(graph: &Graph) -> TokenStream {
    let parsed = &graph.parsed;
    let (rt, name, lints) = (rt(parsed), &parsed.plain.sig.ident, lints(graph));
    let generics = Signature::new(parsed).generics;
    let (impl_generics, _, clause) = generics.split_for_impl();
    let types = shared_inputs(parsed).map(|(_, input)| owned(parsed, input));
    let Some(item) = items(parsed).next() else {
        return TokenStream::new();
    };
    let (item_ty, item_pat) = (&item.ty, &item.pat);
    let EndTypes {
        output,
        error,
        ret,
        verdict,
    } = ends(graph);
    let borrowed = shared_inputs(parsed)
        .filter(|(_, input)| {
            input
                .shared
                .as_ref()
                .is_some_and(|shared| !shared.exclusive)
        })
        .map(|(index, _)| gate::borrowed(graph, index));
    let places = (0..graph.steps().len())
        .filter(|&step| graph.steps()[step].options.queue.is_some())
        .map(|step| {
            let place = node::place(step);
            emit!(let #place = #rt::Slot::new();)
        });
    let check = returned(parsed);
    let items = &parsed.items;
    let body = body(graph, Mode::Item);
    let gates = (0..graph.steps().len()).map(|step| gates(graph, step));
    let count = graph.steps().len();
    emit! {
        #lints
        impl #impl_generics #rt::Program<#item_ty, #output, #error> for #name::Shared<#(#types),*> #clause {
            type States = [#rt::AtomicU8; #count];

            fn graph() -> &'static #rt::Graph {
                &#name::GRAPH
            }

            fn gates() -> ::std::vec::Vec<#rt::NodeGates> {
                ::std::vec![#(#gates),*]
            }

            fn run<'__a>(
                &'__a self,
                __gates: &'__a #rt::Arc<#rt::Gates>,
                __run: &'__a #rt::Run<'__a>,
                __item: #item_ty,
            ) -> impl ::core::future::Future<Output = #rt::Verdict<#output, #error>> + ::core::marker::Send {
                #check
                let __program = self;
                async move {
                    let __code = async move {
                        #(#items)*
                        let #item_pat = __item;
                        #(#borrowed)*
                        #(#places)*
                        #body
                    };
                    let __end: #ret = __code.await;
                    #verdict
                }
            }
        }
    }
}

/// Checks that a return type which counts as a plain value is one. Otherwise an `Err` of a type
/// alias would count as a result.
fn returned(parsed: &Parsed) -> Option<TokenStream> {
    if parsed.fallible() {
        return None;
    }
    // rustc reports errors about the type at the type.
    let span = Span::mixed_site().located_at(parsed.output.span());
    let is_plain = quote_spanned!(span=> __returned.is_plain());
    let (rt, ty) = (rt(parsed), &parsed.output);
    Some(emit! {
        let _ = |__returned: #rt::Returned<#ty>| {
            use #rt::Plain as _;
            #is_plain
        };
    })
}

/// The lints of the code for an item. If the graph has a function, that one has the warnings
/// about the user's code, and this code has none. Otherwise this code has the lints that the
/// user set.
fn lints(graph: &Graph) -> TokenStream {
    if !graph.needs_stream() {
        return quiet();
    }
    let set = graph.parsed.plain.attrs.iter().filter(|attr| {
        let path = attr.path();
        ["allow", "expect", "warn", "deny", "forbid"]
            .iter()
            .any(|level| path.is_ident(level))
    });
    // The code after a final `skip!()` is generated.
    emit!(#[allow(unreachable_code, clippy::all, clippy::pedantic)] #(#set)*)
}

/// The types that the code of an item returns.
struct EndTypes {
    output: TokenStream,
    error: TokenStream,
    ret: TokenStream,
    verdict: TokenStream,
}

fn ends(graph: &Graph) -> EndTypes {
    let rt = rt(&graph.parsed);
    let ty = &graph.parsed.output;
    let never = emit!(::core::convert::Infallible);
    let ends = emit!(<#ty as #rt::Ends>);
    match (graph.parsed.fallible(), graph.flat) {
        (true, None) => EndTypes {
            output: emit!(#ends::Output),
            error: emit!(#ends::Error),
            ret: emit!(#ty),
            verdict: emit!(#rt::verdict::<#ty>(__end, __run.failed())),
        },
        (true, Some(_)) => EndTypes {
            output: emit!(#ends::Output),
            error: emit!(#ends::Error),
            ret: emit!(<#ty as #rt::Outcome>::With<::std::vec::Vec<#ends::Output>>),
            verdict: emit!(#rt::many::<#ty>(__end, __run.failed())),
        },
        (false, None) => EndTypes {
            output: emit!(#ty),
            error: never,
            ret: emit!(#ty),
            verdict: emit!(#rt::Verdict::Done(__end)),
        },
        (false, Some(_)) => EndTypes {
            output: emit!(#ty),
            error: never,
            ret: emit!(::std::vec::Vec<#ty>),
            verdict: emit!(#rt::Verdict::Many(__end)),
        },
    }
}

/// The gates of a step, as data.
fn gates(graph: &Graph, step: usize) -> TokenStream {
    let rt = rt(&graph.parsed);
    let options = &graph.steps()[step].options;
    let mut fields = Vec::new();
    if let Some(limit) = &options.limit {
        let limit = gate::number(limit, "a limit of 0 would let no run past this node");
        fields.push(emit!(limit: ::core::option::Option::Some(#limit)));
    }
    if let Some(rate) = &options.rate {
        let interval = &rate.interval;
        fields.push(emit!(rate: ::core::option::Option::Some(#interval)));
    }
    if let Some(queue) = &options.queue {
        let places = gate::number(
            &queue.places,
            "a queue of 0 would let nothing reach this node",
        );
        fields.push(emit!(queue: ::core::option::Option::Some(#places)));
    }
    if let Some(batch) = &options.batch {
        let max = gate::number(&batch.max, "a batch of 0 would take nothing");
        let within = &batch.within;
        fields.push(
            quote_spanned!(batch.max.span()=> batch: ::core::option::Option::Some((#max, #within))),
        );
    }
    if options.key.is_some() {
        fields.push(emit!(key: true));
    }
    if fields.is_empty() {
        emit!(::core::default::Default::default())
    } else {
        emit!(#rt::NodeGates { #(#fields,)* ..::core::default::Default::default() })
    }
}
