//! The JSON Schemas in `docs/schema`.

use statewarden::cli::args::SchemaOf;
use statewarden::cli::commands::schema::schema;

use super::assert_is_up_to_date;

#[test]
fn the_published_schemas_are_up_to_date() {
    for (name, of) in [
        ("config", SchemaOf::Config),
        ("report", SchemaOf::Report),
        ("explanation", SchemaOf::Explanation),
        ("graph", SchemaOf::Graph),
        ("why", SchemaOf::Why),
        ("metadata", SchemaOf::Metadata),
        ("checkup", SchemaOf::Checkup),
        ("inventory", SchemaOf::Inventory),
        ("plan", SchemaOf::Plan),
        ("planned", SchemaOf::Planned),
        ("shown", SchemaOf::Shown),
        ("applied", SchemaOf::Applied),
        ("history", SchemaOf::History),
        ("difference", SchemaOf::Difference),
        ("audit", SchemaOf::Audit),
        ("audit-check", SchemaOf::AuditCheck),
    ] {
        let text = format!("{:#}\n", schema(of));
        assert_is_up_to_date(&format!("docs/schema/{name}.json"), &text);
    }
}
