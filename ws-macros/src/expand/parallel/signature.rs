//! The signature of a run.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::format_ident;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    BoundLifetimes, FnArg, GenericArgument, GenericParam, Generics, Ident, Item, Lifetime,
    LifetimeParam, Pat, PathArguments, Token, Type, TypeImplTrait, TypeParamBound, WherePredicate,
};

use crate::expand::emit::rt;
use crate::parse::{Input, Parsed};

/// The signature of `run`: inputs are owned, and can be sent to other threads.
pub(in crate::expand) struct Signature {
    pub(in crate::expand) generics: Generics,
    pub(super) params: Punctuated<FnArg, Token![,]>,
    /// The parameters as arguments of another call.
    pub(super) args: Vec<TokenStream>,
}

impl Signature {
    pub(in crate::expand) fn new(parsed: &Parsed) -> Self {
        let mut generics = without_lifetimes(parsed.plain.sig.generics.clone());
        let types: Vec<Ident> = generics
            .type_params()
            .map(|param| param.ident.clone())
            .collect();
        let clause = generics.make_where_clause();
        for ty in types {
            clause.predicates.push(syn::parse_quote!(
                #ty: ::core::marker::Send + ::core::marker::Sync + 'static
            ));
        }
        let mut params = Punctuated::new();
        let mut args = Vec::new();
        for (index, input) in parsed.inputs.iter().enumerate() {
            let name = param(parsed, index);
            let ty = owned(parsed, input);
            params.push(syn::parse_quote!(#name: #ty));
            args.push(emit!(#name));
        }
        Self {
            generics,
            params,
            args,
        }
    }
}

/// The name of a parameter.
pub(in crate::expand) fn param(parsed: &Parsed, input: usize) -> Ident {
    match &parsed.inputs[input].pat {
        Pat::Ident(pat) => pat.ident.clone(),
        _ => format_ident!("input_{input}"),
    }
}

/// The type of an input of a parallel run.
pub(in crate::expand) fn owned(parsed: &Parsed, input: &Input) -> Type {
    let rt = rt(parsed);
    let mut owned = match (&input.ty, &input.shared) {
        (Type::Reference(reference), Some(shared)) if shared.exclusive => {
            let target = &reference.elem;
            syn::parse_quote!(#rt::Exclusive<#target>)
        }
        (Type::Reference(reference), Some(_)) => {
            let target = &reference.elem;
            syn::parse_quote!(#rt::Arc<#target>)
        }
        (other, _) => other.clone(),
    };
    Opaque.visit_type_mut(&mut owned);
    owned
}

/// Gives every `impl Trait` in the type of an input the bounds of type parameters.
struct Opaque;

impl VisitMut for Opaque {
    fn visit_type_impl_trait_mut(&mut self, ty: &mut TypeImplTrait) {
        let more: [TypeParamBound; 3] = [
            syn::parse_quote!(::core::marker::Send),
            syn::parse_quote!(::core::marker::Sync),
            syn::parse_quote!('static),
        ];
        visit_mut::visit_type_impl_trait_mut(self, ty);
        ty.bounds.extend(more);
    }
}

type Bounds = Punctuated<TypeParamBound, Token![+]>;

/// The generics of a run, which borrows nothing. Bounds that name a lifetime then hold for all
/// lifetimes. Bounds that a type outlives a lifetime are dropped, because the type is
/// `'static`.
fn without_lifetimes(mut generics: Generics) -> Generics {
    let gone: Vec<Lifetime> = generics
        .lifetimes()
        .map(|param| param.lifetime.clone())
        .collect();
    if gone.is_empty() {
        return generics;
    }
    generics.params = generics
        .params
        .into_iter()
        .filter(|param| !matches!(param, GenericParam::Lifetime(_)))
        .collect();
    for param in generics.type_params_mut() {
        for_all(&mut param.bounds, &gone);
    }
    if let Some(clause) = &mut generics.where_clause {
        clause.predicates = std::mem::take(&mut clause.predicates)
            .into_iter()
            .filter(|predicate| !matches!(predicate, WherePredicate::Lifetime(_)))
            .collect();
        for predicate in &mut clause.predicates {
            let WherePredicate::Type(predicate) = predicate else {
                continue;
            };
            if mentions(&gone, |find| find.visit_type(&predicate.bounded_ty)) {
                outlive(&mut predicate.bounds, &gone);
                bind(&mut predicate.lifetimes, &gone);
            } else {
                for_all(&mut predicate.bounds, &gone);
            }
        }
    }
    generics
}

fn for_all(bounds: &mut Bounds, gone: &[Lifetime]) {
    outlive(bounds, gone);
    for bound in bounds {
        if let TypeParamBound::Trait(bound) = bound {
            if mentions(gone, |find| find.visit_path(&bound.path)) {
                bind(&mut bound.lifetimes, gone);
            }
        }
    }
}

/// Takes lifetimes out of bounds.
fn outlive(bounds: &mut Bounds, gone: &[Lifetime]) {
    *bounds = std::mem::take(bounds)
        .into_iter()
        .filter(|bound| !matches!(bound, TypeParamBound::Lifetime(bound) if gone.contains(bound)))
        .collect();
}

/// Adds lifetimes to `for<…>`.
fn bind(lifetimes: &mut Option<BoundLifetimes>, gone: &[Lifetime]) {
    let bound = lifetimes.get_or_insert_with(BoundLifetimes::default);
    let gone = gone.iter().cloned();
    bound
        .lifetimes
        .extend(gone.map(|lifetime| GenericParam::Lifetime(LifetimeParam::new(lifetime))));
}

struct Find<'a>(&'a [Lifetime], bool);

impl<'ast> Visit<'ast> for Find<'_> {
    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        self.1 |= self.0.contains(lifetime);
    }
}

fn mentions(gone: &[Lifetime], look: impl FnOnce(&mut Find<'_>)) -> bool {
    let mut find = Find(gone, false);
    look(&mut find);
    find.1
}

/// The reason why a written type cannot stand in the signature of a run: only the body can
/// infer or name it.
pub(in crate::expand) fn unspeakable(parsed: &Parsed, ty: &Type) -> Option<&'static str> {
    let mut items = Items::default();
    parsed.items.iter().for_each(|item| items.visit_item(item));
    let mut unspeakable = Unspeakable {
        items: items.0,
        why: None,
    };
    unspeakable.visit_type(ty);
    unspeakable.why
}

struct Unspeakable {
    items: HashSet<Ident>,
    why: Option<&'static str>,
}

impl<'ast> Visit<'ast> for Unspeakable {
    fn visit_type_infer(&mut self, _: &'ast syn::TypeInfer) {
        self.why = Some("leaves a part to be inferred, with `_`");
    }

    fn visit_type_reference(&mut self, ty: &'ast syn::TypeReference) {
        if ty.lifetime.is_none() {
            self.why = Some("borrows for a lifetime that is not written");
        }
        visit::visit_type_reference(self, ty);
    }

    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        if lifetime.ident != "static" {
            self.why = Some("borrows for less than `'static`");
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let first = path.segments.first().map(|segment| &segment.ident);
        if path.leading_colon.is_none() && first.is_some_and(|first| self.items.contains(first)) {
            self.why = Some("is known only in the body");
        }
        visit::visit_path(self, path);
    }

    fn visit_path_segment(&mut self, segment: &'ast syn::PathSegment) {
        // `Cow` is often written without its lifetime.
        let written = match &segment.arguments {
            PathArguments::AngleBracketed(written) => written
                .args
                .iter()
                .any(|arg| matches!(arg, GenericArgument::Lifetime(_))),
            _ => true,
        };
        if segment.ident == "Cow" && !written {
            self.why = Some("borrows for a lifetime that is not written");
        }
        visit::visit_path_segment(self, segment);
    }

    // References in a function's type are for all lifetimes.
    fn visit_type_bare_fn(&mut self, _: &'ast syn::TypeBareFn) {}
    fn visit_parenthesized_generic_arguments(
        &mut self,
        _: &'ast syn::ParenthesizedGenericArguments,
    ) {
    }
}

/// The names of items that a type may mention.
#[derive(Default)]
struct Items(HashSet<Ident>);

impl<'ast> Visit<'ast> for Items {
    fn visit_item(&mut self, item: &'ast Item) {
        self.0.extend(match item {
            Item::Const(item) => Some(item.ident.clone()),
            Item::Enum(item) => Some(item.ident.clone()),
            Item::Mod(item) => Some(item.ident.clone()),
            Item::Struct(item) => Some(item.ident.clone()),
            Item::Trait(item) => Some(item.ident.clone()),
            Item::Type(item) => Some(item.ident.clone()),
            Item::Union(item) => Some(item.ident.clone()),
            _ => None,
        });
        if let Item::Use(item) = item {
            self.visit_use_tree(&item.tree);
        }
    }

    fn visit_use_name(&mut self, name: &'ast syn::UseName) {
        self.0.insert(name.ident.clone());
    }

    fn visit_use_rename(&mut self, name: &'ast syn::UseRename) {
        self.0.insert(name.rename.clone());
    }
}
