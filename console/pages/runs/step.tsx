/** What one step of a run was: told, asked, called, refused, concluded. */
import { Group, Stack, Text } from '@mantine/core'
import { Link } from 'react-router'
import { foldsIn } from '../../../schemas/event-line.ts'
import { unfolding } from '../../lib/folds.ts'
import { argumentWords, type Call, type Chapter, opening } from '../../lib/run-story.ts'
import { tokenWords } from '../../lib/runs.ts'
import { count } from '../../lib/time.ts'
import { ShownEvents } from '../../parts/event-links.tsx'
import { FoldedText } from '../../parts/fold.tsx'
import { Mark, type Tone } from '../../parts/mark.tsx'
import { Unfold } from '../../parts/unfold.tsx'
import { ClaimList } from './claim-list.tsx'
import { GapsTold } from './gaps-told.tsx'

interface Entity {
  label: string
  value: string
}
type Of<K extends Chapter['kind']> = { step: Extract<Chapter, { kind: K }>; entity: Entity }

/** How it went, at a glance; the words beside it say it too. */
export function toneOf(step: Chapter): Tone {
  if (step.kind === 'refused') return 'bad'
  if (step.kind === 'model') return step.error ? 'bad' : step.isAsked ? 'busy' : 'quiet'
  if (step.kind === 'tool') return step.isError ? 'bad' : step.result === null ? 'busy' : 'quiet'
  if (step.kind === 'conclude') return step.fault ? 'bad' : 'good'
  return 'quiet'
}

export function StepText({ step, entity }: { step: Chapter; entity: Entity }) {
  switch (step.kind) {
    case 'prompt':
      return <Told step={step} entity={entity} />
    case 'model':
      return <Asked step={step} entity={entity} />
    case 'tool':
      return <Called step={step} entity={entity} />
    case 'refused':
      return <Refused step={step} entity={entity} />
    case 'conclude':
      return <Concluded step={step} entity={entity} />
    case 'note':
      return <Noted step={step} entity={entity} />
  }
}

function Told({ step: { system, message, tools, shown }, entity }: Of<'prompt'>) {
  return (
    <Stack gap={4}>
      <Text fw={600}>Received the timeline</Text>
      <GapsTold text={message} />
      <FoldedText title="First message" hint={`${count(message.length)} characters`} text={message} />
      <Unfold folds={foldsIn(message)} request={unfolding(null, entity)} entity={entity} />
      <FoldedText title="Instructions" hint={`${count(system.length)} characters`} text={system} />
      {tools.length > 0 && (
        <Text size="sm">
          Tools offered: <span className="mono">{tools.join(', ')}</span>
        </Text>
      )}
      <ShownEvents shown={shown} entity={entity} word="Shown" />
    </Stack>
  )
}

function Asked({ step }: Of<'model'>) {
  const { round, text, calls, provider, model, usage, tries, error, isAsked } = step
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <Text fw={600}>
          Round {round}: the model {isAsked ? 'is asked' : error ? 'did not answer' : 'answered'}
        </Text>
        {model && (
          <Text size="xs" c="dimmed">
            {model}
            {provider ? ` of ${provider}` : ''} · {tokenWords(usage)}
            {tries > 1 ? ` · tried ${tries} times` : ''}
          </Text>
        )}
      </Group>
      {error && <Text size="sm">{error}</Text>}
      {text && (
        <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {text}
        </Text>
      )}
      {calls.length > 0 && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          Calls {calls.map((call) => call.name).join(', ')}.
        </Text>
      )}
      {text === '' && calls.length === 0 && (
        <Text size="sm" c="dimmed">
          No text and no call.
        </Text>
      )}
    </Stack>
  )
}

function Called({ step: { call, server, result, isError, shown }, entity }: Of<'tool'>) {
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <Text fw={600} className="mono">
          {call.name}
        </Text>
        {server && (
          <Text size="sm">
            of <Link to={`/mcp-servers/${encodeURIComponent(server)}`}>{server}</Link>
          </Text>
        )}
        {isError && <Mark tone="bad">error</Mark>}
      </Group>
      <Arguments call={call} />
      {result === null ? (
        <Text size="sm" c="dimmed">
          No answer yet, or the daemon stopped during the call.
        </Text>
      ) : (
        <>
          <GapsTold text={result} />
          <FoldedText title="Result" hint={opening(result)} text={result} />
          {server === null && (
            <Unfold folds={foldsIn(result)} request={unfolding(call.arguments, entity)} entity={entity} />
          )}
        </>
      )}
      <ShownEvents shown={shown} entity={entity} word="Shown" />
    </Stack>
  )
}

function Arguments({ call }: { call: Call }) {
  const words = argumentWords(call)
  if (words === '') return null
  return <FoldedText title="Arguments" hint={opening(words)} text={JSON.stringify(call.arguments, null, 2)} />
}

function Refused({ step: { call, reason } }: Of<'refused'>) {
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <Text fw={600} className="mono">
          {call.name}
        </Text>
        <Mark tone="bad">refused</Mark>
      </Group>
      <Text size="sm">{reason}</Text>
      <Arguments call={call} />
    </Stack>
  )
}

function Concluded({ step: { call, fault, claims, sentBack }, entity }: Of<'conclude'>) {
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <Text fw={600}>Conclusion</Text>
        {fault && <Mark tone="bad">refused</Mark>}
        {!fault && sentBack && (
          <Mark tone="quiet" title={sentBackWords(claims)}>
            sent back
          </Mark>
        )}
      </Group>
      {fault && <Text size="sm">{fault}</Text>}
      <Arguments call={call} />
      {claims.length > 0 && <ClaimList claims={claims} entity={entity} />}
    </Stack>
  )
}

/** "Sent back: 2 claims did not hold". */
function sentBackWords(claims: readonly { ok: boolean }[]): string {
  const missing = claims.filter(({ ok }) => !ok).length
  return `Sent back: ${missing} ${missing === 1 ? 'claim' : 'claims'} did not hold`
}

function Noted({ step: { text, say } }: Of<'note'>) {
  return (
    <Stack gap={4}>
      <Text size="sm">Note: {text}</Text>
      {say && (
        <Text size="sm" c="dimmed">
          Received: {say}
        </Text>
      )}
    </Stack>
  )
}
