//! Enums whose variants have a text each.

/// Declares an enum together with the text of each variant in output, which `as_str` returns.
///
/// ```
/// kubereel_format::worded! {
/// /// The health of an object.
/// #[derive(Clone, Copy)]
/// pub enum Health {
///     /// It works.
///     Good = "healthy",
///     /// It does not.
///     Bad = "not healthy",
/// }
/// }
/// assert_eq!(Health::Bad.as_str(), "not healthy");
/// ```
#[macro_export]
macro_rules! worded {
    ($(#[$meta:meta])* $vis:vis enum $name:ident {
        $($(#[$doc:meta])* $variant:ident = $text:literal,)+
    }) => {
        $(#[$meta])*
        $vis enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            /// Returns the text in output.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }
    };
}
