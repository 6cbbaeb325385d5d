/**
 * `npm run generate`: writes every generated file. From the JSON Schema files, the types and the
 * registry, and from them the schema of the catalog file for editors; from the routes, api/http/openapi.json, and from it the calls of the clients; from the machines, docs/lifecycles.md; from the commands, docs/svc.1; from the presets, catalog/presets.json and docs/webhook-senders.md; from the migrations, the schema of a new data file; the kernel of the preparer, compiled; the skill that the plugin carries. Tests
 * fail when one is stale.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Io } from '../api/cli/terminal.ts'
import { CATALOG_FILE, generate } from '../schemas/generate.ts'
import { KERNEL_FILE, renderKernel } from './kernel.ts'
import { renderLifecycles } from './lifecycles-doc.ts'
import { renderSchema, SCHEMA_PATH } from './schema-file.ts'

const root = new URL('../', import.meta.url)
/** The commands are looked at, none is run. */
const SILENT = { env: {}, colour: false } as unknown as Io

for (const [path, text] of Object.entries(await generate())) write(`schemas/${path}`, text)
write(SCHEMA_PATH, renderSchema())
write('docs/lifecycles.md', renderLifecycles())
write(
  'plugins/coding-sessions/skills/svc/SKILL.md',
  readFileSync(new URL('catalog/skills/svc/SKILL.md', root), 'utf8'),
)
write(KERNEL_FILE, await renderKernel())
const { PRESETS_FILE, renderPresets, renderSenders, SENDERS_FILE } = await import('./presets.ts')
write(PRESETS_FILE, renderPresets())
write(SENDERS_FILE, renderSenders())
const { renderCatalogSchema } = await import('./catalog-schema.ts')
write(`schemas/${CATALOG_FILE}`, renderCatalogSchema())
const { buildProgram } = await import('../api/cli/program.ts')
const { commandFacts } = await import('../api/cli/reference/tree.ts')
const { manPage } = await import('../api/cli/reference/man-page.ts')
write('docs/svc.1', manPage(commandFacts(buildProgram(SILENT))))
// Imported now: it reads the registry that was just written.
const { renderOpenapi } = await import('../api/http/openapi-file.ts')
const document = await renderOpenapi()
write('api/http/openapi.json', document)
const { CALLS_FILE, renderCalls } = await import('./client-calls.ts')
write(CALLS_FILE, renderCalls(document))

function write(path: string, text: string): void {
  writeFileSync(fileURLToPath(new URL(path, root)), text)
  process.stdout.write(`wrote ${path}\n`)
}
