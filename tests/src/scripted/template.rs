//! Owns the bytes of an object, with holes for what the server decides: `$TYPE`, `$UID`, `$RV`.
//! Refuses to parse JSON: whatever is given is sent, so that tests may commit bytes no serialiser would write.

/// An object's bytes between the holes, in order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Template {
    pieces: Vec<Piece>,
}

#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Literal(Vec<u8>),
    /// `"kind":"Pod","apiVersion":"v1",`, or nothing in lists of built-in types.
    Type,
    Uid,
    Revision,
}

impl Template {
    /// Splits the source at its holes; a `$` that begins none of them stands for itself.
    pub(crate) fn parse(source: &[u8]) -> Self {
        let mut pieces = Vec::new();
        let mut literal = Vec::new();
        let mut rest = source;
        while let Some(dollar) = rest.iter().position(|byte| *byte == b'$') {
            let (before, hole) = rest.split_at(dollar);
            literal.extend_from_slice(before);
            if let Some((piece, after)) = Piece::at(hole) {
                pieces.push(Piece::Literal(std::mem::take(&mut literal)));
                pieces.push(piece);
                rest = after;
            } else {
                literal.push(b'$');
                rest = hole.get(1..).unwrap_or_default();
            }
        }
        literal.extend_from_slice(rest);
        pieces.push(Piece::Literal(literal));
        Self { pieces }
    }

    /// The object as sent, with the holes filled.
    pub(crate) fn render(&self, type_members: &str, uid: &str, revision: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        for piece in &self.pieces {
            bytes.extend_from_slice(match piece {
                Piece::Literal(literal) => literal,
                Piece::Type => type_members.as_bytes(),
                Piece::Uid => uid.as_bytes(),
                Piece::Revision => revision.as_bytes(),
            });
        }
        bytes
    }
}

impl Piece {
    fn at(source: &[u8]) -> Option<(Self, &[u8])> {
        let holes = [
            (b"$TYPE".as_slice(), Self::Type),
            (b"$UID".as_slice(), Self::Uid),
            (b"$RV".as_slice(), Self::Revision),
        ];
        holes
            .into_iter()
            .find_map(|(name, piece)| Some((piece, source.strip_prefix(name)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::Template;

    #[test]
    fn fills_the_holes_and_leaves_every_other_byte() {
        let template = Template::parse(b"{$TYPE\"a\":\"$UID/$RV\", \"$\": \"$x\xff\"}");
        assert_eq!(
            template.render("\"kind\":\"K\",", "u", "7"),
            b"{\"kind\":\"K\",\"a\":\"u/7\", \"$\": \"$x\xff\"}"
        );
    }
}
