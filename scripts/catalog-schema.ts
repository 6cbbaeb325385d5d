/** The schema of the catalog file as it is written to schemas/, for editors. */
import { describeConnectorSchemas } from '../engine/sources/connectors/index.ts'
import { catalogFileSchema } from '../schemas/catalog-file.ts'

export function renderCatalogSchema(): string {
  return `${JSON.stringify(catalogFileSchema(describeConnectorSchemas()), null, 2)}\n`
}
