/** The schema of the catalog file as it is written to schemas/, for editors. */
import { catalogFileSchema } from '../engine/catalog/document/index.ts'
import { describeConnectorSchemas } from '../engine/connectors/index.ts'

export function renderCatalogSchema(): string {
  return `${JSON.stringify(catalogFileSchema(describeConnectorSchemas()), null, 2)}\n`
}
