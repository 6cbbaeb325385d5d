/** The schema of the catalog file as it is written to schemas/, for editors. */
import { catalogFileSchema } from '../engine/gitops/update.ts'
import { describeConnectorSchemas } from '../engine/sources/connectors/index.ts'

export function renderCatalogSchema(): string {
  return `${JSON.stringify(catalogFileSchema(describeConnectorSchemas()), null, 2)}\n`
}
