/** The catalog as files, connectors and dependents (SPEC.md, Catalog YAML). */
import type { FastifyInstance } from 'fastify'
import type { CatalogCheck, CatalogImport, CatalogPatch, LabelsPreview } from '../../../schemas/types.ts'
import { askedBy } from '../asked.ts'
import type { Doors } from '../doors.ts'
import { body, fields } from '../validate.ts'
import { writeBy } from '../write-by.ts'
import { describe } from './route.ts'

const TAG = 'catalog'
const PART_KINDS = ['source', 'mcp_server', 'skill', 'trigger', 'agent']
const YAML = 'application/yaml; charset=utf-8'
const JSON_TYPE = 'application/json; charset=utf-8'
/** A file of 8 MiB as a JSON string. */
const FILE_BODY = 17 * 1024 * 1024

export function catalogRoutes(app: FastifyInstance, doors: Doors): void {
  partFactRoutes(app, doors)
  fileRoutes(app, doors)
}

function fileRoutes(app: FastifyInstance, doors: Doors): void {
  const { engine, auth } = doors
  app.get<{ Querystring: { sources?: string; format: 'yaml' | 'json' } }>(
    '/api/catalog/export',
    describe(
      TAG,
      'exportCatalog',
      'The instance as YAML or JSON, without secrets',
      200,
      { media: { 'application/yaml': null, 'application/json': 'catalog.json' } },
      {
        querystring: fields({
          sources: { type: 'string' },
          format: { type: 'string', enum: ['yaml', 'json'], default: 'yaml' },
        }),
      },
    ),
    async (request, reply) => {
      const { sources: given, format } = request.query
      const sources = given === undefined ? undefined : given.split(',').filter(Boolean)
      return reply
        .type(format === 'json' ? JSON_TYPE : YAML)
        .send(await engine.exportCatalog(sources, format, askedBy(request, reply, doors)))
    },
  )
  app.post<{ Body: CatalogPatch }>(
    '/api/catalog/export',
    {
      ...describe(
        TAG,
        'updateCatalogFile',
        'A given file brought up to date, its comments and order kept',
        200,
        { media: { 'application/yaml': null } },
        {
          body: body('request-catalog-patch.json'),
        },
      ),
      bodyLimit: FILE_BODY,
    },
    async (request, reply) =>
      reply
        .type(YAML)
        .send(await engine.updateCatalogFile(request.body.yaml, askedBy(request, reply, doors))),
  )
  app.post<{ Body: CatalogCheck }>(
    '/api/catalog/check',
    {
      ...describe(
        TAG,
        'checkCatalog',
        'Every problem of a file, and the plan when there is none',
        200,
        'catalog-checked.json',
        {
          body: body('request-catalog-check.json'),
        },
      ),
      bodyLimit: FILE_BODY,
    },
    async (request, reply) => {
      const compares = request.identity.scopes.includes('admin')
      return engine.checkCatalog(request.body, compares, askedBy(request, reply, doors))
    },
  )
  app.post<{ Body: CatalogImport }>(
    '/api/catalog/import',
    {
      ...describe(
        TAG,
        'importCatalog',
        'Import a file all or nothing; with dry_run only the plan',
        200,
        'catalog-imported.json',
        {
          body: body('request-catalog-import.json'),
        },
      ),
      bodyLimit: FILE_BODY,
    },
    async (request) => {
      const result = await engine.importCatalog(request.body, {
        ...writeBy(request),
        origin: 'catalog',
        mintKeys: auth.secured,
      })
      // A plan changes nothing, and waits for nobody who writes.
      if (result.change_set !== null) await auth.refresh()
      return result
    },
  )
  app.get(
    '/api/catalog/drift',
    describe(
      TAG,
      'getDrift',
      'How the instance differs from the catalog files that were imported',
      200,
      'catalog-drift.json',
    ),
    async (request, reply) => engine.catalogDrift(askedBy(request, reply, doors)),
  )
  app.delete<{ Params: { name: string } }>(
    '/api/catalog/files/:name',
    describe(
      TAG,
      'forgetCatalogFile',
      'Forget a catalog file; what it declared stays',
      200,
      'catalog-forgotten.json',
    ),
    async ({ params }) => engine.forgetCatalogFile(params.name),
  )
  app.get(
    '/api/catalog/schema',
    describe(
      TAG,
      'getCatalogSchema',
      'The JSON Schema of the file, for editors',
      200,
      'catalog-file-schema.json',
    ),
    async () => engine.catalogSchema(),
  )
}

function partFactRoutes(app: FastifyInstance, { engine }: Doors): void {
  app.get(
    '/api/connectors',
    describe(
      'sources',
      'listConnectors',
      'Every connector, its fields and whether it can discover',
      200,
      'connectors-result.json',
    ),
    async () => engine.listConnectors(),
  )
  app.get<{ Querystring: { kind: string; name: string } }>(
    '/api/catalog/dependents',
    describe('parts', 'listDependents', 'What depends on a part', 200, 'dependents-result.json', {
      querystring: fields(
        {
          kind: { type: 'string', enum: PART_KINDS, default: 'source' },
          name: { type: 'string', minLength: 1 },
        },
        ['name'],
      ),
    }),
    async ({ query }) => engine.dependents(query.kind, query.name),
  )
  app.get(
    '/catalog',
    describe('parts', 'listCatalog', 'Sources, triggers and projects by name', 200, 'catalog-listing.json'),
    async ({ identity }) => engine.catalogListing(identity.project),
  )
  app.get<{ Params: { handle: string } }>(
    '/catalog/:handle',
    describe(
      'parts',
      'describeInCatalog',
      'One source or trigger: its form, values, freshness and lineage',
      200,
      'catalog-description.json',
    ),
    async ({ params, identity }) => engine.describeHandle(params.handle, identity.project),
  )
  app.post<{ Body: LabelsPreview }>(
    '/api/labels/preview',
    describe(
      'sources',
      'previewLabel',
      'Dry run of a label over recent payloads or a sample',
      200,
      'labels-preview-result.json',
      {
        body: body('request-labels-preview.json'),
      },
    ),
    async (request) => engine.previewLabel(request.body),
  )
}
