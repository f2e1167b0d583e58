//! The table of the fields of Kubernetes' own kinds is what a real API server publishes.

use anyhow::{Context as _, ensure};
use kubereel_tests::control_plane::{ControlPlane, skipped};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Where the names of types begin that the table shortens.
const PACKAGES: [&str; 4] = [
    "io.k8s.api.",
    "io.k8s.apimachinery.pkg.apis.",
    "io.k8s.apiextensions-apiserver.pkg.apis.",
    "io.k8s.kube-aggregator.pkg.apis.",
];

/// The types of an `OpenAPI` document.
struct Published(Map<String, Value>);

impl Published {
    /// Writes the type of a schema, and notes the type that it refers to.
    fn type_name(&self, schema: &Value, wanted: &mut Vec<String>) -> String {
        if let Some(to) = schema.get("$ref").and_then(Value::as_str) {
            let name = to.trim_start_matches("#/definitions/");
            return match self.0.get(name) {
                Some(known) if known.get("properties").is_some() => {
                    wanted.push(name.to_owned());
                    short(name)
                }
                Some(known) => self.type_name(known, wanted),
                None => "Object".to_owned(),
            };
        }
        let text = |field| schema.get(field).and_then(Value::as_str);
        match (text("type"), text("format")) {
            (_, Some("int-or-string")) => "IntOrString".to_owned(),
            (Some("array"), _) => {
                let item = schema.get("items").unwrap_or(&Value::Null);
                format!("[]{}", self.type_name(item, wanted))
            }
            (Some("object") | None, _) => match schema.get("additionalProperties") {
                Some(value) => format!("map[string]{}", self.type_name(value, wanted)),
                None => "Object".to_owned(),
            },
            (Some(plain), _) => plain.to_owned(),
        }
    }

    /// Returns the group, version and kind of a type that has them and is not a list.
    fn kind(schema: &Value) -> Option<String> {
        let kinds = schema.get("x-kubernetes-group-version-kind")?.as_array()?;
        let [kind] = kinds.as_slice() else {
            return None;
        };
        let metadata = schema.pointer("/properties/metadata/$ref")?.as_str()?;
        let text = |field| kind.get(field).and_then(Value::as_str);
        metadata.ends_with(".ObjectMeta").then_some(format!(
            "{}/{}/{}",
            text("group")?,
            text("version")?,
            text("kind")?
        ))
    }

    /// Writes the table: every kind, and the types of its fields.
    fn table(&self, version: &str) -> String {
        let mut lines: BTreeMap<String, String> = BTreeMap::new();
        let kinds = self
            .0
            .iter()
            .filter(|(_, schema)| Self::kind(schema).is_some());
        let mut wanted: Vec<String> = kinds.map(|(name, _)| name.clone()).collect();
        while let Some(name) = wanted.pop() {
            if lines.contains_key(&short(&name)) {
                continue;
            }
            let Some(schema) = self.0.get(&name) else {
                continue;
            };
            let mut line = vec![short(&name)];
            line.extend(Self::kind(schema).map(|kind| format!("kind={kind}")));
            let required: BTreeSet<&str> = schema
                .get("required")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            let fields = schema.get("properties").and_then(Value::as_object);
            for (field, of) in fields.into_iter().flatten() {
                let mark = if required.contains(field.as_str()) {
                    "!"
                } else {
                    ""
                };
                line.push(format!("{field}{mark}:{}", self.type_name(of, &mut wanted)));
            }
            lines.insert(short(&name), line.join(" "));
        }
        let mut table = format!("version {version}\n");
        for line in lines.into_values() {
            table += &line;
            table.push('\n');
        }
        table
    }
}

fn short(name: &str) -> String {
    let mut found = PACKAGES
        .iter()
        .filter_map(|package| name.strip_prefix(package));
    found.next().unwrap_or(name).to_owned()
}

#[tokio::test]
async fn the_table_of_builtin_kinds_is_what_an_api_server_publishes() -> anyhow::Result<()> {
    if skipped() {
        return Ok(());
    }
    let control_plane = ControlPlane::builder().start().await?;
    let client = control_plane.client(0).await?;
    let version = client.apiserver_version().await?.git_version;
    let request = http::Request::get("/openapi/v2").body(Vec::new())?;
    let document: Value = client.request(request).await?;
    let definitions = document.get("definitions").and_then(Value::as_object);
    let published = Published(definitions.context("no definitions")?.clone());
    let table = published.table(&version);
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../replay/history/src/builtin_kinds.txt");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &table)?;
    }
    let kept = std::fs::read_to_string(&path)?;
    ensure!(
        kept == table,
        "builtin_kinds.txt differs from what {version} publishes: run this test with UPDATE=1"
    );
    Ok(())
}
