import { describe, expect, it } from 'vitest'
import { renderOpenapi } from '../../api/http/openapi-file.ts'
import { CATALOG_FILE, generate } from '../../schemas/generate.ts'
import { renderCatalogSchema } from '../../scripts/catalog-schema.ts'
import { CALLS_FILE, renderCalls } from '../../scripts/client-calls.ts'
import { KERNEL_FILE, renderKernel } from '../../scripts/kernel.ts'
import { PRESETS_FILE, renderPresets, renderSenders, SENDERS_FILE } from '../../scripts/presets.ts'
import { renderSchema, SCHEMA_PATH } from '../../scripts/schema-file.ts'
import { textOf } from './project-files.ts'

describe('generated files', () => {
  it('of the schemas are those that npm run generate writes', async () => {
    for (const [path, text] of Object.entries(await generate()))
      expect(textOf(`schemas/${path}`) === text, `schemas/${path} is stale: npm run generate`).toBe(true)
  })

  it('of the catalog file are those that npm run generate writes', () => {
    expect(
      textOf(`schemas/${CATALOG_FILE}`) === renderCatalogSchema(),
      `schemas/${CATALOG_FILE} is stale: npm run generate`,
    ).toBe(true)
  })

  it('of the data file are those that npm run generate writes', () => {
    expect(textOf(SCHEMA_PATH) === renderSchema(), `${SCHEMA_PATH} is stale: npm run generate`).toBe(true)
  })

  it('of the presets are those that npm run generate writes', () => {
    expect(textOf(PRESETS_FILE) === renderPresets(), `${PRESETS_FILE} is stale: npm run generate`).toBe(true)
    expect(textOf(SENDERS_FILE) === renderSenders(), `${SENDERS_FILE} is stale: npm run generate`).toBe(true)
  })

  it('of the routes are those that npm run generate writes', async () => {
    expect(
      textOf('api/http/openapi.json') === (await renderOpenapi()),
      'api/http/openapi.json is stale: npm run generate',
    ).toBe(true)
  })

  it('of the clients are those that npm run generate writes', () => {
    expect(
      textOf(CALLS_FILE) === renderCalls(textOf('api/http/openapi.json')),
      `${CALLS_FILE} is stale: npm run generate`,
    ).toBe(true)
  })

  it('of the kernel are those that npm run generate writes', async () => {
    expect(textOf(KERNEL_FILE) === (await renderKernel()), `${KERNEL_FILE} is stale: npm run generate`).toBe(
      true,
    )
  })
})
