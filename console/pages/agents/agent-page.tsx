/** One agent, to make or to change. */
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearchParams } from 'react-router'
import { declared, dkeys } from '../../declared-client.ts'
import { draftOf, NEW_AGENT } from '../../lib/agent-form.ts'
import { useShown } from '../../lib/use-shown.ts'
import { DeletePart } from '../../parts/delete-part.tsx'
import { PageHead } from '../../parts/page.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { AgentEditor } from './agent-editor.tsx'

export default function AgentPage() {
  const { name } = useParams()
  return name === undefined ? <NewAgent /> : <ExistingAgent name={name} />
}

function NewAgent() {
  const [query] = useSearchParams()
  const project = query.get('project') ?? undefined
  const go = useNavigate()
  return (
    <>
      <PageHead title="Add agent" />
      <AgentEditor
        start={NEW_AGENT}
        save={(body) => declared.createAgent({ ...body, ...(project ? { project } : {}) })}
        onSaved={({ name }) =>
          void go(project ? `/projects/${project}` : `/agents/${encodeURIComponent(name)}`)
        }
        label="Add agent"
      />
    </>
  )
}

function ExistingAgent({ name }: { name: string }) {
  const go = useNavigate()
  const { data, error, isPending, refetch } = useQuery({
    queryKey: dkeys.agent(name),
    queryFn: () => declared.agent(name),
  })
  const { shown, round, reload } = useShown(data, refetch)
  if (isPending) return <LoadingRows />
  return (
    <>
      <PageHead title={name}>
        {data && (
          <DeletePart
            kind="agent"
            name={name}
            remove={declared.deleteAgent}
            onDone={() => void go('/agents')}
          />
        )}
      </PageHead>
      {error && <Failed error={error} onRetry={() => void refetch()} />}
      {data && shown && (
        <>
          <Text size="sm" mb="md">
            {data.triggers.length ? `Woken by ${data.triggers.join(', ')}` : 'Woken only by a handoff'}
            {data.handoffs.length > 0 &&
              `; hands over to ${data.handoffs.map((row) => `${row.agent} on ${row.verdict}`).join(', ')}`}
            . {data.project && <Link to={`/projects/${data.project}?tab=wiring`}>Change the wiring</Link>}
          </Text>
          <AgentEditor
            key={round}
            start={draftOf(shown)}
            stored={shown}
            onSaved={() => void reload()}
            onTakeTheirs={() => void reload()}
            save={(body, version) => declared.updateAgent(name, body, version)}
            label="Save"
          />
        </>
      )}
    </>
  )
}
