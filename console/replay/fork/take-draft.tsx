/** Hands what was tried over to the draft of the project, where it is looked at and applied. */
import { Button, Group, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { FilePenLine } from 'lucide-react'
import { useNavigate } from 'react-router'
import { newDraft, type Step, withStep } from '../../graph/draft/draft.ts'
import { editPart } from '../../graph/draft/parts.ts'
import { currentDraft, putDraft } from '../../graph/editor/state/draft-store.ts'
import { graphApi } from '../../graph-client.ts'
import { notifications } from '../../lib/notices.ts'

type Fields = Readonly<Record<string, unknown>>

interface Props {
  project: string
  part: { kind: 'trigger' | 'agent'; name: string }
  /** As it was then, and as it was tried: what differs is the change. */
  before: Fields
  after: Fields
  /** It is in the draft: there it is kept. */
  onTaken: () => void
}

export function TakeDraft({ project, part, before, after, onTaken }: Props) {
  const navigate = useNavigate()
  const step = editPart(part, before, after)
  const take = useMutation({
    mutationFn: (taken: Step) => intoDraft(project, part, taken),
    onSuccess: (taken) => {
      onTaken()
      notifications.show({ message: taken.said })
      void navigate(`/projects/${encodeURIComponent(project)}?tab=graph`)
    },
    onError: (error) =>
      notifications.show({
        color: 'red',
        title: 'Couldn’t add the change to the draft',
        message: error.message,
      }),
  })
  return (
    <Group gap="sm">
      <Button
        variant="default"
        leftSection={<FilePenLine size={16} aria-hidden />}
        disabled={step === null}
        loading={take.isPending}
        onClick={() => step && take.mutate(step)}
      >
        Add to the draft
      </Button>
      <Text size="sm" c="dimmed">
        {step === null ? 'Nothing is changed yet.' : 'Only your changes are added; nothing is applied yet.'}
      </Text>
    </Group>
  )
}

/** One step more in the draft of the project. @throws Error where the part is not there any more */
async function intoDraft(project: string, { kind, name }: Props['part'], step: Step): Promise<Step> {
  const graph = await graphApi.graph(project)
  if (!graph.nodes.some(({ id, state }) => id === `${kind}:${name}` && state !== 'missing'))
    throw new Error(`The ${kind} ${name} is not in the project any more.`)
  putDraft(project, withStep(currentDraft(project) ?? newDraft(graph.version), step))
  return step
}
