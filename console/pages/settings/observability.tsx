/** Observability: whether runs of agents and turns of Ask are exported as OpenTelemetry traces, and how that goes. */
import { Alert, Button, Group, PasswordInput, Select, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { TracingSettings } from '../../../schemas/types.ts'
import { changedIn, keptAddress } from '../../lib/drafts.ts'
import {
  exportWords,
  fromWords,
  type TracingDraft,
  testedWords,
  tracingDraft,
  tracingWrite,
} from '../../lib/tracing-settings.ts'
import { useChange } from '../../lib/use-change.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { useShown } from '../../lib/use-shown.ts'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { settings, skeys } from '../../settings-client.ts'

export function Observability() {
  const { data, error, refetch } = useQuery({ queryKey: skeys.tracing, queryFn: settings.tracing })
  const { shown, round, reload } = useShown(data, refetch)
  if (error) return <Failed what="the settings" error={error} onRetry={() => void refetch()} />
  if (!shown) return <LoadingRows rows={4} />
  return (
    <Stack maw={560}>
      <Text size="sm" c="dimmed">
        Each run of an agent and each turn of Ask as an OpenTelemetry trace, sent over OTLP/HTTP. Other
        numbers are on <code>/metrics</code>.
      </Text>
      <Alert
        color={shown.state === 'incomplete' || shown.last_export?.ok === false ? 'yellow' : 'gray'}
        p="xs"
        role="status"
        title="Agent tracing"
      >
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {exportWords(shown)}
        </Text>
      </Alert>
      <Tracing key={round} stored={shown} onSaved={() => void reload()} />
      <TestSpan />
    </Stack>
  )
}

function Tracing({ stored, onSaved }: { stored: TracingSettings; onSaved: () => void }) {
  const before = tracingDraft(stored)
  const kept = useDraft({
    form: 'tracing',
    start: before,
    // A key and headers are secret.
    plain: (now) =>
      changedIn(
        { ...now, api_key: '', headers: '', endpoint: keptAddress(now.endpoint, before.endpoint) },
        before,
      ),
  })
  const draft = kept.value
  const set = <K extends keyof TracingDraft>(field: K, value: TracingDraft[K]) =>
    kept.set((now) => ({ ...now, [field]: value }))
  const write = tracingWrite(draft, stored)
  const save = useChange((_: undefined) => settings.saveTracing(write), {
    said: () => 'The tracing of agents is saved',
    onDone: () => {
      kept.done()
      onSaved()
    },
    quiet: true,
  })
  const preset = stored.providers.find(({ id }) => id === draft.provider)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate(undefined)
      }}
    >
      <Stack>
        <DraftRestored of={kept} />
        <Switch
          label="Export traces"
          description={`Applies from the next run that ends.${stored.enabled_source === 'env' ? fromWords('env') : ''}`}
          checked={draft.enabled}
          onChange={(event) => set('enabled', event.currentTarget.checked)}
        />
        <Select
          label="Receiver"
          data={stored.providers.map(({ id, label }) => ({ value: id, label }))}
          value={draft.provider}
          onChange={(provider) => set('provider', provider ?? stored.provider)}
          allowDeselect={false}
        />
        <TextInput
          label="Endpoint"
          description={`Base address; traces go to /v1/traces below it.${fromWords(stored.endpoint_source)}`}
          placeholder={stored.endpoint_source === 'console' ? '' : stored.endpoint || preset?.endpoint}
          value={draft.endpoint}
          onChange={(event) => set('endpoint', event.currentTarget.value)}
          maxLength={2_000}
        />
        <PasswordInput
          label="API key"
          description={`Sent as a bearer token. Never shown again. Leave empty to keep.${fromWords(stored.api_key_source)}`}
          value={draft.api_key}
          onChange={(event) => set('api_key', event.currentTarget.value)}
          autoComplete="off"
        />
        <PasswordInput
          label="More headers"
          description={`name=value, separated by commas. Leave empty to keep. ${
            stored.headers.length ? `Now: ${stored.headers.join(', ')}.` : 'Now: none.'
          }`}
          value={draft.headers}
          onChange={(event) => set('headers', event.currentTarget.value)}
          autoComplete="off"
        />
        <Switch
          label="Include messages, prompts, arguments and results"
          checked={draft.content}
          onChange={(event) => set('content', event.currentTarget.checked)}
        />
        <Refusal title="Couldn’t save the settings" error={save.error} />
        <Group>
          <Button type="submit" loading={save.isPending} disabled={Object.keys(write).length === 0}>
            Save tracing
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function TestSpan() {
  const test = useChange((_: undefined) => settings.testTracing(), { failed: 'Couldn’t send a test trace' })
  const said = test.data && testedWords(test.data)
  return (
    <Stack gap="xs">
      <Group>
        <Button variant="default" loading={test.isPending} onClick={() => test.mutate(undefined)}>
          Send a test span
        </Button>
      </Group>
      <div role="status">
        {said && (
          <Alert color={test.data?.ok ? 'teal' : 'red'} p="xs" title={said.title}>
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {said.text}
            </Text>
          </Alert>
        )}
      </div>
    </Stack>
  )
}
