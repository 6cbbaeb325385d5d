/** The fields of a source: those of its connector, from its schema, and its labels. */
import { Select, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { Connector, Label } from '../../../../schemas/types.ts'
import { api, keys } from '../../../client.ts'
import { emptyLabel, toDrafts } from '../../../forms/label-drafts.ts'
import { PollInput } from '../../../forms/poll-input.tsx'
import { type SourceDraft, toConfig } from '../../../forms/source-draft.ts'
import { SourceForm } from '../../../forms/source-form.tsx'
import { blankFaults, faultAt } from '../../../lib/field-errors.ts'
import { Failed, LoadingRows } from '../../../parts/states.tsx'
import type { Fields } from '../../draft/values.ts'
import type { FormProps } from './schema-form.tsx'

interface State {
  connector: string
  poll: string
  draft: SourceDraft
}

export function SourceFields({ spec, isNew, configured, errors, onEdit }: FormProps) {
  const connectors = useQuery({ queryKey: keys.connectors, queryFn: api.connectors })
  const [start] = useState(() => stateOf(spec))
  const [state, setState] = useState(start)
  const told = (next: State) =>
    onEdit({
      before: isNew ? {} : specOf(start),
      after: specOf(next),
      missing: missingOf(next, connectors.data?.[next.connector], configured),
    })
  const put = (next: State) => {
    setState(next)
    told(next)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new source lacks something as it begins.
  useEffect(() => {
    if (isNew) told(start)
  }, [])
  if (connectors.error && !connectors.data)
    return <Failed what="connectors" error={connectors.error} onRetry={() => void connectors.refetch()} />
  if (!connectors.data) return <LoadingRows rows={3} />
  const connector = connectors.data[state.connector]
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
            const labels = kind === 'webhook' ? [emptyLabel(true)] : []
            put({ connector: kind ?? '', poll: '', draft: { config: {}, labels } })
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
      {connector && (
        <SourceForm
          key={state.connector}
          kind={state.connector}
          connector={connector}
          value={state.draft}
          onChange={(draft) => put({ ...state, draft })}
          errors={Object.fromEntries(
            Object.entries(errors).map(([field, text]) => [field.replace(/^config\./, ''), text]),
          )}
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
