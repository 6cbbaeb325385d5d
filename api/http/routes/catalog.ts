/** The catalog as files, connectors and dependents (SPEC.md, Catalog YAML). */
import type { FastifyInstance } from 'fastify'
import type { CatalogCheck, CatalogImport, CatalogPatch, LabelsPreview } from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { body, fields } from '../validate.ts'
import { writeBy } from '../write-by.ts'
import { describe } from './route.ts'

const TAG = 'catalog'
const YAML = 'application/yaml; charset=utf-8'
/** A file of 8 MiB as a JSON string. */
const FILE_BODY = 17 * 1024 * 1024

export function catalogRoutes(app: FastifyInstance, doors: Doors): void {
  partFactRoutes(app, doors)
  fileRoutes(app, doors)
}

function fileRoutes(app: FastifyInstance, { engine, auth }: Doors): void {
  app.get<{ Querystring: { sources?: string } }>(
    '/api/catalog/export',
    describe(TAG, 'exportCatalog', 'The instance as YAML, without secrets', 200, null, {
      querystring: fields({ sources: { type: 'string' } }),
    }),
    async ({ query }, reply) => {
      const sources = query.sources === undefined ? undefined : query.sources.split(',').filter(Boolean)
      return reply.type(YAML).send(await engine.exportCatalog(sources))
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
        null,
        {
          body: body('request-catalog-patch.json'),
        },
      ),
      bodyLimit: FILE_BODY,
    },
    async (request, reply) => reply.type(YAML).send(await engine.updateCatalogFile(request.body.yaml)),
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
    async (request) => engine.checkCatalog(request.body.yaml, request.body.prune ?? false),
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
      await auth.refresh()
      return result
    },
  )
  app.get(
    '/api/catalog/drift',
    describe(
      TAG,
      'getDrift',
      'How the instance differs from the file last imported',
      200,
      'catalog-drift.json',
    ),
    async () => engine.catalogDrift(),
  )
  app.get(
    '/api/catalog/schema',
    describe(TAG, 'getCatalogSchema', 'The JSON Schema of the file, for editors', 200, null),
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
      null,
    ),
    async () => engine.listConnectors(),
  )
  app.get<{ Querystring: { kind: string; name: string } }>(
    '/api/catalog/dependents',
    describe('parts', 'listDependents', 'What depends on a part', 200, 'dependents-result.json', {
      querystring: fields(
        { kind: { type: 'string', default: 'source' }, name: { type: 'string', minLength: 1 } },
        ['name'],
      ),
    }),
    async ({ query }) => engine.dependents(query.kind, query.name),
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
