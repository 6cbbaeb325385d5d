/** The fields of a webhook: from a pasted event, which says how its events are read; the rest is folded. */
import { Alert, Stack, Text, Textarea } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useEffect, useRef } from 'react'
import type { Connector } from '../../../schemas/types.ts'
import { toDrafts } from '../../forms/label-drafts.ts'
import { type SourceDraft, toConfig } from '../../forms/source-draft.ts'
import { SourceForm } from '../../forms/source-form.tsx'
import type { FieldErrors } from '../../lib/field-errors.ts'
import { isMapped, withMapping } from '../../lib/mapping.ts'
import { parseSample } from '../../lib/sample.ts'
import { Fold } from '../../parts/fold.tsx'
import { FieldRoles } from './mapping/field-roles.tsx'
import { PayloadRows } from './mapping/payload-rows.tsx'
import { useProposal, useRows } from './mapping/use-mapping.ts'
import { PresetOffer } from './preset-choice.tsx'

const ROWS = 3

interface Props {
  connector: Connector
  draft: SourceDraft
  onChange: (draft: SourceDraft) => void
  /** Takes what the form itself fills in, such as defaults. */
  onBegin?: (own: Record<string, unknown>) => void
  errors: FieldErrors
  /** The pasted text, and what else becomes of it, in a sentence. */
  sample: string
  sampleUse?: string | undefined
  onSample: (text: string) => void
  isNew: boolean
}

export function WebhookFields({
  connector,
  draft,
  onChange,
  onBegin,
  errors,
  sample,
  sampleUse,
  onSample,
  isNew,
}: Props) {
  const payloads = parseSample(sample)
  const config = toConfig(draft)
  const setConfig = ({ labels, ...rest }: Record<string, unknown>) =>
    onChange({ config: rest, labels: toDrafts((labels ?? []) as Parameters<typeof toDrafts>[0]) })
  const [settled] = useDebouncedValue(sample, 350)
  const of = settled === sample && payloads?.length ? { sample: payloads } : null
  const proposal = useProposal(of)
  const rows = useRows(of, config)
  /** The text whose proposal was taken: what is set by hand after that stays. */
  const taken = useRef(isMapped(config) ? sample : '')
  const { data } = proposal
  // biome-ignore lint/correctness/useExhaustiveDependencies: a proposal is taken once, when it comes.
  useEffect(() => {
    if (!data || taken.current === sample) return
    taken.current = sample
    setConfig(withMapping(config, data.proposed_config ?? {}))
  }, [data, sample])
  const shown = rows.data ?? data
  const fault = proposal.error ?? rows.error
  return (
    <Stack gap="md">
      <Textarea
        label="Paste an event"
        description={`Optional. JSON, a list, or one a line: svc proposes how to read it.${sampleUse ? ` ${sampleUse}` : ''}`}
        placeholder={'{"service": "checkout", "level": "error", "msg": "payment timed out"}'}
        value={sample}
        onChange={(event) => onSample(event.currentTarget.value)}
        error={payloads === null ? 'Neither JSON nor NDJSON yet' : undefined}
        autosize
        minRows={3}
        maxRows={12}
        classNames={{ input: 'mono' }}
      />
      {payloads !== null && payloads.length > 0 && (
        <>
          <Text fw={600} size="sm" role="status">
            {data?.summary ?? (fault ? '' : 'Reading the event…')}
          </Text>
          {fault && (
            <Alert color="red" title="Couldn’t read the event" role="alert">
              {fault.message}
            </Alert>
          )}
          <PresetOffer fit={data?.preset} used={config.preset} onUse={setConfig} />
          <PayloadRows
            label="On the timeline"
            rows={(shown?.rows ?? []).slice(0, ROWS).flatMap(({ after }) => after)}
          />
          {data && (
            <FieldRoles
              fields={data.payload_fields ?? []}
              proposed={data.roles ?? []}
              config={config}
              onChange={setConfig}
            />
          )}
        </>
      )}
      <Fold
        title={`More settings (${connector.fields.length})`}
        isOpen={!isNew}
        isFaulty={Object.keys(errors).length > 0}
      >
        <SourceForm
          kind="webhook"
          connector={connector}
          value={draft}
          {...{ onChange, onBegin, errors }}
          payloads={payloads ?? []}
        />
      </Fold>
    </Stack>
  )
}
