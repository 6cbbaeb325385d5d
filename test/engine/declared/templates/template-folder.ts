/** Folders with template files, and a small template to change. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { readTemplates } from '../../../../engine/declared/projects/templating.ts'
import type { TemplateFile } from '../../../../schemas/types.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A new folder with these files; it goes after the test. */
export function folderWith(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-templates-'))
  folders.push(folder)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

/** Reads one template from its text. @throws StartError when it is broken */
export function templateFrom(text: string): TemplateFile {
  return readTemplates(folderWith({ 'watch.yaml': text })).get('watch')!
}

/** What is said of a broken template, without the folder. */
export function faultsOf(text: string): string[] {
  const folder = folderWith({ 'watch.yaml': text })
  try {
    readTemplates(folder)
  } catch (error) {
    const [, ...lines] = (error as Error).message.split('\n')
    return lines.map((line) => line.replace(`${folder}/`, ''))
  }
  return []
}

/** A whole template: a source, a trigger and two agents. */
export const WATCH = `key: watch
title: Watch
description: Watches one system.
params:
  type: object
  required: [system]
  properties:
    system:
      type: string
      pattern: '^[A-Za-z0-9-]+$'
      maxLength: 20
      examples: [shop]
    threshold: { type: integer, default: 5, minimum: 1, maximum: 100 }
    token: { type: string, x-secret: true, examples: [s3cret] }
    region: { type: string, enum: [eu, us], x-env: WATCH_REGION }
objects:
  - kind: source
    key: events
    name: '{{ slug(system) }}-events'
    spec:
      connector: webhook
      config:
        signature_scheme: hmac_sha256
        signature_secret: '{{ token }}'
        labels:
          - { name: system, const: '{{ system }}', primary: true }
  - kind: trigger
    key: many
    name: '{{ slug(system) }}-many'
    spec:
      sources: ['{{ name("events") }}']
      condition: { aggregate: count, predicate: '> {{ threshold }}', window: 5m }
  - kind: agent
    key: first
    name: '{{ slug(system) }}-first'
    spec:
      prompt: Look at {{ system }}.
      verdicts: [{ verdict: dig }]
  - kind: agent
    key: second
    name: '{{ slug(system) }}-second'
    spec: { prompt: Dig. }
wakes:
  - { trigger: many, agent: first, enabled: true }
handoffs:
  - { agent: first, verdict: dig, to: second }
actions:
  - name: ask
    label: Ask
    params:
      type: object
      required: [about]
      properties:
        about: { type: string, minLength: 1 }
        depth: { type: integer, default: 2 }
    request:
      method: POST
      url: 'https://example.test/{{ slug(system) }}/{{ args.about }}'
      body: { token: '{{ token }}', depth: '{{ args.depth }}' }
  - name: look
    label: Look
    run: { agent: '{{ name("first") }}', entity: '{{ system }}' }
`
