//! The signature of a run.

use proc_macro2::TokenStream;
use quote::format_ident;
use syn::punctuated::Punctuated;
use syn::{FnArg, GenericParam, Generics, Ident, Pat, Token, Type, TypeParamBound};

use crate::expand::rt;
use crate::parse::{Input, Parsed};

/// The signature of `run`: inputs are owned, and may go to other threads.
pub(in crate::expand) struct Signature {
    pub(in crate::expand) generics: Generics,
    pub(super) params: Punctuated<FnArg, Token![,]>,
    /// The parameters as arguments of another call.
    pub(super) args: Vec<TokenStream>,
}

impl Signature {
    pub(in crate::expand) fn new(parsed: &Parsed) -> Self {
        let mut generics = parsed.plain.sig.generics.clone();
        generics.params = generics
            .params
            .into_iter()
            .filter(|param| !matches!(param, GenericParam::Lifetime(_)))
            .collect();
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
    match (&input.ty, &input.shared) {
        (Type::Reference(reference), Some(shared)) if shared.exclusive => {
            let target = &reference.elem;
            syn::parse_quote!(#rt::Exclusive<#target>)
        }
        (Type::Reference(reference), Some(_)) => {
            let target = &reference.elem;
            syn::parse_quote!(#rt::Arc<#target>)
        }
        (Type::ImplTrait(ty), _) => {
            let mut ty = ty.clone();
            let more: [TypeParamBound; 3] = [
                syn::parse_quote!(::core::marker::Send),
                syn::parse_quote!(::core::marker::Sync),
                syn::parse_quote!('static),
            ];
            ty.bounds.extend(more);
            Type::ImplTrait(ty)
        }
        (other, _) => other.clone(),
    }
}
