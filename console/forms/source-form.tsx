/** The fields of a source, to make one or to change one. */
import { Box, Group, Stack, Textarea } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Connector, Label } from '../../schemas/types.ts'
import { api } from '../client.ts'
import { marksOf } from '../lib/field-errors.ts'
import { fieldNames, parseSample } from '../lib/sample.ts'
import { count, countEvents } from '../lib/time.ts'
import { ConfigForm } from './config-form.tsx'
import { Discover } from './discovery/discover.tsx'
import { type LabelDraft, toLabels } from './label-drafts.ts'
import { LabelsEditor } from './labels-editor.tsx'
import type { SourceDraft } from './source-draft.ts'

interface Props {
  /** Name of the connector. */
  kind: string
  connector: Connector
  value: SourceDraft
  onChange: (value: SourceDraft) => void
  /** Takes fields of the config that the form itself fills in; absent: `onChange` does. */
  onBegin?: (own: SourceDraft['config']) => void
  /** Fields known from real events. */
  knownFields?: string[]
  /** What is wrong, by field of the config. */
  errors?: Readonly<Record<string, string>>
  /** Name of the source that is edited: discovery uses its secrets. */
  sourceName?: string
  /** The event that is pasted, where somebody else keeps it, and what becomes of it. */
  kept?: { text: string; use: string; set: (text: string) => void } | undefined
  /** A sample that is given elsewhere: none is asked for here. */
  payloads?: unknown[]
}

export function SourceForm({
  kind,
  connector,
  value,
  onChange,
  onBegin,
  knownFields = [],
  errors,
  sourceName,
  kept,
  payloads: given,
}: Props) {
  const [pasted, setPasted] = useState('')
  const sample = kept?.text ?? pasted
  const payloads = given ?? parseSample(sample)
  const preview = usePreview(value.labels, payloads ?? [])
  const fields = [
    ...new Set([
      ...fieldNames(payloads ?? []),
      ...knownFields,
      ...connector.provides.map((field) => field.name),
    ]),
  ]
  return (
    <Stack gap="lg">
      <ConfigForm
        schema={connector.config_schema}
        value={value.config}
        {...(errors ? { errors } : {})}
        onChange={(config) => onChange({ ...value, config })}
        onBegin={onBegin}
      >
        {connector.discover && (
          <Discover
            kind={kind}
            connector={connector}
            draft={value}
            onTake={onChange}
            {...(sourceName === undefined ? {} : { sourceName })}
          />
        )}
      </ConfigForm>
      {/* Beside one another as far as there is room: the panel of the graph has less than the window. */}
      <Group gap="md" align="flex-start">
        <Box flex="2 1 440px" miw={0}>
          <LabelsEditor
            marks={marksOf(errors ?? {})}
            value={value.labels}
            onChange={(labels) => onChange({ ...value, labels })}
            fields={fields}
            preview={preview}
          />
        </Box>
        {connector.mode !== 'reference' && !given && (
          <Box flex="1 1 240px" miw={0}>
            <Textarea
              label="Paste a sample event"
              description={kept ? `Used to suggest labels. ${kept.use}` : 'Used to suggest labels'}
              placeholder={'{"service": "checkout", "level": "error"}'}
              value={sample}
              onChange={(event) => (kept?.set ?? setPasted)(event.currentTarget.value)}
              error={payloads === null ? 'This is neither JSON nor NDJSON yet' : undefined}
              autosize
              minRows={5}
              maxRows={14}
              classNames={{ input: 'mono' }}
            />
          </Box>
        )}
      </Group>
    </Stack>
  )
}

/** What each label would make of the sample, asked of the daemon as one types. */
function usePreview(labels: LabelDraft[], sample: unknown[]): Record<string, string> {
  const [settled] = useDebouncedValue(JSON.stringify({ labels: toLabels(labels), sample }), 350)
  const { data } = useQuery({
    queryKey: ['label-preview', settled],
    enabled: sample.length > 0 && labels.some((label) => label.name && label.value),
    queryFn: async () => {
      const asked = JSON.parse(settled) as { labels: Label[]; sample: unknown[] }
      const entries = await Promise.all(
        asked.labels.map(async (label) => {
          const text = await api.previewLabel({ label, sample: asked.sample }).then(
            (result) =>
              `${count(result.matched)} of ${countEvents(result.sampled)}: ${
                result.results
                  .filter((row) => row.to !== null)
                  .slice(0, 4)
                  .map((row) => String(row.to))
                  .join(', ') || 'no value'
              }`,
            (error: Error) => error.message,
          )
          return [label.name, text] as const
        }),
      )
      return Object.fromEntries(entries)
    },
  })
  return data ?? {}
}
