//! Outputs for programs: each member once, with its type and its value. The schemas in `docs/schemas` are
//! generated from these types.

/// Defines types of JSON output, each made of its arguments by `of`.
macro_rules! outputs {
    ($($(#[$doc:meta])* struct $name:ident $(<$life:lifetime>)? ($($arg:ident: $from:ty),+) {
        $($(#[$attr:meta])* $field:ident: $type:ty = $value:expr,)+
    })+) => {$(
        $(#[$doc])*
        #[derive(Debug, serde::Serialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        pub(crate) struct $name $(<$life>)? { $($(#[$attr])* $field: $type,)+ }

        impl $(<$life>)? $name $(<$life>)? {
            pub(crate) fn of($($arg: $from),+) -> Self {
                Self { $($field: $value,)+ }
            }
        }
    )+};
}

pub(crate) use outputs;
