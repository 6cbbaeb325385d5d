/** What there is by name, and the catalog as files (SPEC.md, Catalog YAML). */
import { isAdmin, PLAN_ADVICE } from './input.ts'
import { tagged } from './operation.ts'

const operation = tagged('catalog')
const ofParts = tagged('parts')
const ofSources = tagged('sources')
/** A file of 8 MiB as a JSON string. */
const FILE_BODY = 17 * 1024 * 1024

export const catalog = [
  ofSources({
    id: 'listConnectors',
    route: 'GET /api/connectors',
    scope: 'read',
    role: 'reader',
    answer: 'connectors-result.json',
    summary: 'Every connector, its fields and whether it can discover',
    run: (engine) => engine.listConnectors(),
  }),
  ofSources({
    id: 'listPresets',
    route: 'GET /api/presets',
    scope: 'read',
    role: 'reader',
    answer: { listOf: 'preset.json' },
    summary: 'Presets of webhook senders',
    run: (engine) => engine.listPresets(),
  }),
  ofParts({
    id: 'listDependents',
    route: 'GET /api/catalog/dependents',
    scope: 'read',
    role: 'reader',
    query: {
      kind: {
        type: 'string',
        enum: ['source', 'mcp_server', 'skill', 'trigger', 'agent'],
        default: 'source',
      },
      name: { type: 'string', minLength: 1, required: true },
    },
    answer: 'dependents-result.json',
    summary: 'What depends on a part',
    run: (engine, { query }) => engine.dependents(query.kind, query.name),
  }),
  ofParts({
    id: 'listCatalog',
    route: 'GET /catalog',
    scope: 'read',
    projectKey: true,
    role: 'reader',
    answer: 'catalog-listing.json',
    summary: 'Sources, triggers and projects by name',
    run: (engine, { project }) => engine.catalogListing(project),
  }),
  ofParts({
    id: 'describeInCatalog',
    route: 'GET /catalog/{handle}',
    scope: 'read',
    projectKey: true,
    role: 'reader',
    answer: 'catalog-description.json',
    summary: 'One source or trigger: its form, values, freshness and lineage',
    run: (engine, { params, project }) => engine.describeHandle(params.handle, project),
  }),
  ofSources({
    id: 'previewLabel',
    route: 'POST /api/labels/preview',
    scope: 'read',
    role: 'reader',
    body: 'request-labels-preview.json',
    answer: 'labels-preview-result.json',
    summary: 'Preview of a label over recent payloads or a sample',
    run: (engine, { body }) => engine.previewLabel(body),
  }),
  operation({
    id: 'exportCatalog',
    route: 'GET /api/catalog/export',
    scope: 'read',
    role: 'wide',
    advice: PLAN_ADVICE,
    query: {
      sources: { type: 'string' },
      format: { type: 'string', enum: ['yaml', 'json'], default: 'yaml' },
    },
    answer: { media: { 'application/yaml': null, 'application/json': 'catalog.json' } },
    type: ({ format }) => `application/${format}`,
    summary: 'The instance as YAML or JSON, without secrets',
    run: (engine, { query: { sources, format } }) =>
      engine.exportCatalog(sources?.split(',').filter(Boolean), format),
  }),
  operation({
    id: 'updateCatalogFile',
    route: 'POST /api/catalog/export',
    scope: 'read',
    role: 'wide',
    advice: PLAN_ADVICE,
    body: 'request-catalog-patch.json',
    bodyLimit: FILE_BODY,
    answer: { media: { 'application/yaml': null } },
    summary: 'A given file brought up to date, its comments and order kept',
    run: (engine, { body }) => engine.updateCatalogFile(body),
  }),
  operation({
    id: 'checkCatalog',
    route: 'POST /api/catalog/check',
    scope: 'read',
    role: 'wide',
    advice: PLAN_ADVICE,
    tells: true,
    body: 'request-catalog-check.json',
    bodyLimit: FILE_BODY,
    answer: 'catalog-checked.json',
    summary: 'Check a file: all of its problems, or its plan when it has none',
    run: async (engine, { body: { backtest: window, ...file }, caller, told }) => {
      const compares = isAdmin({ caller })
      const checked = await engine.checkCatalog(file, compares)
      if (window === undefined || !checked.plan) return checked
      return { ...checked, backtest: await engine.backtestChange({ ...file, window }, compares, told) }
    },
  }),
  operation({
    id: 'importCatalog',
    route: 'POST /api/catalog/import',
    scope: 'admin',
    // A text of megabytes is read beside the writer; with dry_run that is all.
    role: 'network',
    body: 'request-catalog-import.json',
    bodyLimit: FILE_BODY,
    answer: 'catalog-imported.json',
    recorded: true,
    access: 'changes',
    summary: 'Import a file all or nothing; with dry_run only the plan',
    run: (engine, { body, by, secured }) =>
      engine.importCatalog(body, { ...by, origin: 'catalog', mintKeys: secured }),
  }),
  operation({
    id: 'getDrift',
    route: 'GET /api/catalog/drift',
    scope: 'read',
    role: 'wide',
    advice: PLAN_ADVICE,
    answer: 'catalog-drift.json',
    summary: 'How the instance differs from the catalog files that were imported',
    run: (engine) => engine.catalogDrift(),
  }),
  operation({
    id: 'forgetCatalogFile',
    route: 'DELETE /api/catalog/files/{name}',
    scope: 'admin',
    role: 'writer',
    answer: 'catalog-forgotten.json',
    summary: 'Forget a catalog file; what it declared stays',
    run: (engine, { params }) => engine.forgetCatalogFile(params.name),
  }),
  operation({
    id: 'getCatalogSync',
    route: 'GET /api/catalog/sync',
    scope: 'read',
    role: 'reader',
    query: { parts: { type: 'string', enum: ['differing', 'all'], default: 'differing' } },
    answer: 'catalog-sync.json',
    summary: 'The sync of the catalog with its repository: what git says, what runs, how they differ',
    run: (engine, { query }) => engine.catalogSync(query.parts),
  }),
  operation({
    id: 'syncCatalog',
    route: 'POST /api/catalog/sync',
    scope: 'admin',
    role: 'network',
    optionalBody: 'request-catalog-sync.json',
    answer: 'catalog-sync.json',
    access: 'changes',
    summary: 'Look at the repository now; with apply the plan of its commit is applied',
    run: (engine, { body, by }) => engine.syncCatalog(body ?? {}, { ...by, origin: 'catalog' }),
  }),
  operation({
    id: 'listCatalogSyncs',
    route: 'GET /api/catalog/sync/history',
    scope: 'read',
    role: 'reader',
    answer: 'catalog-sync-history.json',
    summary: 'What happened to the sync of the catalog, newest first',
    run: (engine) => engine.catalogSyncHistory(),
  }),
  operation({
    id: 'getCatalogSchema',
    route: 'GET /api/catalog/schema',
    scope: 'read',
    role: 'reader',
    answer: 'catalog-file-schema.json',
    summary: 'The JSON Schema of the file, for editors',
    run: (engine) => engine.catalogSchema(),
  }),
]
