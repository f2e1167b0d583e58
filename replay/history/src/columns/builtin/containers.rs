//! Owns the two columns that list containers: names, and images.

use super::super::part::Part;

/// Writes names and images of a list of containers.
pub(super) fn names_and_images(containers: Part<'_>) -> [String; 2] {
    ["name", "image"].map(|member| {
        let texts: Vec<&str> = containers
            .items()
            .map(|one| one.at(member).text())
            .collect();
        texts.join(",")
    })
}
