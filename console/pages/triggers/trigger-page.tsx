/** One trigger, to make or to change. */
import { Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearchParams } from 'react-router'
import { declared, dkeys } from '../../declared-client.ts'
import { draftOf, NEW_TRIGGER } from '../../lib/trigger-form.ts'
import { useChange } from '../../lib/use-change.ts'
import { useShown } from '../../lib/use-shown.ts'
import { DeletePart } from '../../parts/delete-part.tsx'
import { PageHead } from '../../parts/page.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { TriggerEditor } from './trigger-editor.tsx'

export default function TriggerPage() {
  const { name } = useParams()
  return name === undefined ? <NewTrigger /> : <ExistingTrigger name={name} />
}

function NewTrigger() {
  const [query] = useSearchParams()
  const project = query.get('project') ?? undefined
  const go = useNavigate()
  return (
    <>
      <PageHead title="Add trigger" />
      <TriggerEditor
        start={NEW_TRIGGER}
        save={(body) => declared.createTrigger({ ...body, ...(project ? { project } : {}) })}
        onSaved={({ name }) =>
          void go(project ? `/projects/${project}` : `/triggers/${encodeURIComponent(name)}`)
        }
        label="Add trigger"
      />
    </>
  )
}

function ExistingTrigger({ name }: { name: string }) {
  const go = useNavigate()
  const { data, error, isPending, refetch } = useQuery({
    queryKey: dkeys.trigger(name),
    queryFn: () => declared.trigger(name),
  })
  const move = useChange((event: 'pause' | 'resume') => declared.moveTrigger(name, event), {
    said: (_result, event) => (event === 'pause' ? `${name} is paused` : `${name} is evaluated again`),
  })
  const { shown, round, reload } = useShown(data, refetch)
  if (isPending) return <LoadingRows />
  return (
    <>
      <PageHead title={name}>
        {data && (
          <Group>
            {data.accepts.includes('pause') && (
              <Button variant="default" onClick={() => move.mutate('pause')}>
                Pause
              </Button>
            )}
            {data.accepts.includes('resume') && <Button onClick={() => move.mutate('resume')}>Resume</Button>}
            <DeletePart
              kind="trigger"
              name={name}
              remove={declared.deleteTrigger}
              onDone={() => void go('/triggers')}
            />
          </Group>
        )}
      </PageHead>
      {error && <Failed error={error} onRetry={() => void refetch()} />}
      {data && shown && (
        <>
          {data.paused && <Text mb="sm">It is paused: nothing trips it.</Text>}
          <TriggerEditor
            key={round}
            start={draftOf(shown)}
            stored={shown}
            onSaved={() => void reload()}
            onTakeTheirs={() => void reload()}
            save={(body, version) => declared.updateTrigger(body, version)}
            label="Save"
          />
        </>
      )}
    </>
  )
}
