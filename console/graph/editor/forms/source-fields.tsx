/** The fields of a source: those of its connector, from its schema, and its labels. */
import { Select, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Suspense, useEffect, useRef, useState } from 'react'
import type { Connector, Label } from '../../../../schemas/types.ts'
import { api, keys } from '../../../client.ts'
import { toDrafts } from '../../../forms/label-drafts.ts'
import { PollInput } from '../../../forms/poll-input.tsx'
import { type SourceDraft, toConfig } from '../../../forms/source-draft.ts'
import { SourceForm } from '../../../forms/source-form.tsx'
import { blankFaults, faultAt } from '../../../lib/field-errors.ts'
import { WebhookFields } from '../../../pages/sources/webhook-fields.tsx'
import { Failed, LoadingRows } from '../../../parts/states.tsx'
import type { Fields } from '../../draft/values.ts'
import type { FormProps } from './schema-form.tsx'

export { loadFields } from '../../../forms/config-form.tsx'

interface State {
  connector: string
  poll: string
  draft: SourceDraft
}

interface Props extends FormProps {
  /** The event that was pasted, where somebody else keeps it, and what becomes of it. */
  sample?: { text: string; use: string; set: (text: string) => void }
}

export function SourceFields({ spec, typed, isNew, configured, errors, onEdit, sample }: Props) {
  const connectors = useQuery({ queryKey: keys.connectors, queryFn: api.connectors })
  const [start] = useState(() => stateOf(spec))
  const [state, setState] = useState(() => (typed ? stateOf(typed) : start))
  const [pasted, setPasted] = useState('')
  const isTouched = useRef(false)
  // Parts of a form give what they begin with before any of it is drawn.
  const latest = useRef(state)
  const told = (next: State) => {
    latest.current = next
    onEdit({
      isOwn: !isTouched.current,
      before: isNew ? {} : specOf(start),
      after: specOf(next),
      missing: missingOf(next, connectors.data?.[next.connector], configured),
    })
  }
  const show = (next: State) => {
    setState(next)
    told(next)
  }
  const put = (next: State) => {
    isTouched.current = true
    show(next)
  }
  const begin = (own: Record<string, unknown>) => {
    const { draft } = latest.current
    show({ ...latest.current, draft: { ...draft, config: { ...draft.config, ...own } } })
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was typed before, or what a new source lacks, is told once.
  useEffect(() => {
    if (typed || isNew) told(state)
  }, [])
  if (connectors.error && !connectors.data)
    return <Failed what="connectors" error={connectors.error} onRetry={() => void connectors.refetch()} />
  if (!connectors.data) return <LoadingRows rows={3} />
  const connector = connectors.data[state.connector]
  const inConfig = Object.fromEntries(
    Object.entries(errors).map(([field, text]) => [field.replace(/^config\./, ''), text]),
  )
  return (
    <Stack gap="md">
      {isNew ? (
        <Select
          label="Connector"
          data={Object.entries(connectors.data)
            .filter(([, { internal }]) => !internal)
            .map(([value, { label }]) => ({ value, label }))}
          value={state.connector || null}
          onChange={(kind) => {
            put({ connector: kind ?? '', poll: '', draft: { config: {}, labels: [] } })
          }}
          error={faultAt(errors, 'connector')}
          allowDeselect={false}
          searchable
          withAsterisk
        />
      ) : (
        <Text size="sm" c="dimmed">
          {connector?.label ?? state.connector}: {connector?.description}
        </Text>
      )}
      {connector && (
        <PollInput
          connector={connector}
          value={state.poll}
          onChange={(poll) => put({ ...state, poll })}
          fault={faultAt(errors, 'poll')}
          w="100%"
        />
      )}
      {connector && state.connector === 'webhook' && (
        <Suspense fallback={<LoadingRows rows={3} />}>
          <WebhookFields
            connector={connector}
            draft={state.draft}
            onChange={(draft) => put({ ...state, draft })}
            onBegin={begin}
            errors={inConfig}
            sample={sample?.text ?? pasted}
            sampleUse={sample?.use}
            onSample={sample?.set ?? setPasted}
            isNew={isNew}
          />
        </Suspense>
      )}
      {connector && state.connector !== 'webhook' && (
        <SourceForm
          key={state.connector}
          kind={state.connector}
          connector={connector}
          value={state.draft}
          onChange={(draft) => put({ ...state, draft })}
          onBegin={begin}
          errors={inConfig}
          kept={connector.mode === 'push' ? sample : undefined}
        />
      )}
    </Stack>
  )
}

/** What a source needs of its connector that is blank. @param configured pointers of what is stored and not shown */
function missingOf(
  { connector: kind, draft }: State,
  connector: Connector | undefined,
  configured: readonly string[],
) {
  const schema = (connector?.config_schema ?? {}) as { required?: string[] }
  const needed = (schema.required ?? []).filter(
    (field) => field !== 'labels' && !configured.includes(`/config/${field}`),
  )
  return {
    ...blankFaults({ connector: kind }, ['connector']),
    ...blankFaults(draft.config, needed, 'config.'),
  }
}

function stateOf({ connector, poll, config }: Fields): State {
  const { labels, ...rest } = (config ?? {}) as Record<string, unknown>
  return {
    connector: typeof connector === 'string' ? connector : '',
    poll: typeof poll === 'string' ? poll : '',
    draft: { config: rest, labels: toDrafts((labels ?? []) as Label[]) },
  }
}

const specOf = ({ connector, poll, draft }: State): Fields => ({
  connector,
  poll: poll.trim() || null,
  config: toConfig(draft),
})
