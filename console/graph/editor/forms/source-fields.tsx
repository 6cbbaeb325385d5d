/** The fields of a source: those of its connector, from its schema, and its labels. */
import { Select, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Label } from '../../../../schemas/types.ts'
import { api, keys } from '../../../client.ts'
import { emptyLabel, toDrafts } from '../../../forms/label-drafts.ts'
import { PollInput } from '../../../forms/poll-input.tsx'
import { type SourceDraft, toConfig } from '../../../forms/source-draft.ts'
import { SourceForm } from '../../../forms/source-form.tsx'
import { faultAt } from '../../../lib/field-errors.ts'
import { Failed, LoadingRows } from '../../../parts/states.tsx'
import type { Fields } from '../../draft/values.ts'
import type { FormProps } from './schema-form.tsx'

interface State {
  connector: string
  poll: string
  draft: SourceDraft
}

export function SourceFields({ spec, isNew, errors, onEdit }: FormProps) {
  const connectors = useQuery({ queryKey: keys.connectors, queryFn: api.connectors })
  const [start] = useState(() => stateOf(spec))
  const [state, setState] = useState(start)
  const put = (next: State) => {
    setState(next)
    onEdit({ before: isNew ? {} : specOf(start), after: specOf(next), isComplete: next.connector !== '' })
  }
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
