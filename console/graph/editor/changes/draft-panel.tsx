/** What the draft holds, what it would do, and applying it. */
import { Alert, Anchor, Badge, Group, List, Paper, Stack, Tabs, Text, Title } from '@mantine/core'
import { CircleAlert } from 'lucide-react'
import { useEffect } from 'react'
import type { DraftPreview } from '../../../../schemas/types.ts'
import { PlanView } from '../../../parts/plan-view.tsx'
import { Failed, LoadingRows } from '../../../parts/states.tsx'
import { Warnings } from '../../../parts/warnings.tsx'
import { operationsOf } from '../../draft/draft.ts'
import { findNode, nameOf } from '../../draft/ids.ts'
import { keysOf } from '../../draft/patch.ts'
import { followed } from '../../draft/rebase.ts'
import { problemsOf } from '../state/problems.ts'
import type { Editor } from '../state/use-editor.ts'
import { type Applied, ApplyDraft } from './apply-draft.tsx'
import { Conflicts } from './conflicts.tsx'
import { ChangedSince, FileIsTruth } from './notices.tsx'
import { PatchView } from './patch-view.tsx'
import { Steps, UndoButtons } from './steps.tsx'

interface Props {
  editor: Editor
  tab: string
  onTab: (tab: string) => void
  onOpen: (id: string) => void
  onApply: () => void
  onApplied: (applied: Applied) => void
}

export function DraftPanel({ editor, tab, onTab, onOpen, onApply, onApplied }: Props) {
  const { draft, preview, live } = editor
  if (!draft)
    return (
      <Paper withBorder p="sm" radius="md" component="section" aria-label="Draft">
        <Text size="sm" c="dimmed">
          Nothing is changed yet. What you do here gathers in a draft; nothing takes effect until you apply
          it.
        </Text>
        {live.source_of_truth === 'file' && <FileIsTruth editor={editor} />}
      </Paper>
    )
  const yaml = preview.answer?.yaml
  return (
    <Paper
      withBorder
      p="sm"
      radius="md"
      component="section"
      aria-label="Draft"
      data-draft
      tabIndex={-1}
      style={{ scrollMarginTop: 64 }}
    >
      <Stack gap="sm">
        <Group justify="space-between">
          <Group gap="xs">
            <Title order={2}>Draft</Title>
            <Badge variant="light" color="indigo" tt="none">
              {draft.cursor === 1 ? '1 step' : `${draft.cursor} steps`}
            </Badge>
          </Group>
          <UndoButtons editor={editor} />
        </Group>
        <ChangedSince editor={editor} />
        <Conflicts editor={editor} />
        <Problems editor={editor} onOpen={onOpen} />
        <LostSecrets editor={editor} onOpen={onOpen} />
        <Tabs value={tab} onChange={(value) => onTab(value ?? 'steps')} keepMounted={false}>
          <Tabs.List mb="sm">
            <Tabs.Tab value="steps">Steps</Tabs.Tab>
            <Tabs.Tab value="plan">Plan</Tabs.Tab>
            <Tabs.Tab value="yaml">YAML</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="steps">
            <Stack gap="sm">
              <Steps editor={editor} />
              <Warnings of={warningsOf(preview.answer)} />
            </Stack>
          </Tabs.Panel>
          <Tabs.Panel value="plan">
            {preview.answer?.plan ? (
              <PlanView plan={preview.answer.plan} />
            ) : (
              <Waiting editor={editor} what="No plan until the problems are fixed" />
            )}
          </Tabs.Panel>
          <Tabs.Panel value="yaml">
            {yaml ? (
              <PatchView yaml={yaml} />
            ) : (
              <Waiting editor={editor} what="No file until the problems are fixed" />
            )}
          </Tabs.Panel>
        </Tabs>
        {live.source_of_truth === 'file' && <FileIsTruth editor={editor} />}
        <ApplyDraft editor={editor} onApply={onApply} onApplied={onApplied} />
      </Stack>
    </Paper>
  )
}

/** Those of the plan, and new agents that nothing would wake. */
function warningsOf(answer: DraftPreview | undefined): string[] {
  const { changes = [], warnings = [] } = answer?.plan ?? {}
  const idle = changes.filter(
    ({ action, kind, name }) =>
      action === 'create' &&
      kind === 'agent' &&
      !answer?.graph?.edges.some(({ kind: of, to }) => /wakes|hands_off/.test(of) && to === `agent:${name}`),
  )
  return [
    ...warnings,
    ...idle.map(
      ({ name }) => `Nothing wakes agent ${name}: connect a trigger to it, or a verdict of another agent`,
    ),
  ]
}

/** Where others gave parts another name the draft goes along. */
export function Following({ editor }: { editor: Editor }) {
  const { draft, preview, replace, say } = editor
  const renamed = preview.answer?.renamed ?? []
  const next = draft && followed(draft, renamed)
  useEffect(() => {
    if (next === draft) return
    replace(next)
    const names = renamed.map(({ from, to }) => `${from} is now ${to}`)
    say(`Others renamed parts: ${names.join(', ')}. The draft goes along.`)
  })
  return null
}

function Waiting({ editor: { draft, preview }, what }: { editor: Editor; what: string }) {
  if (draft?.cursor === 0) return <Text size="sm">Every step is undone. Nothing would change.</Text>
  if (draft && operationsOf(draft).length === 0) return <Text size="sm">Only positions change.</Text>
  if (preview.error) return <Failed what="the preview" error={preview.error} />
  const isBlocked = preview.answer && (preview.answer.problems.length || preview.answer.conflicts.length)
  return isBlocked ? <Text size="sm">{what}</Text> : <LoadingRows rows={3} />
}

function Problems({ editor, onOpen }: { editor: Editor; onOpen: (id: string) => void }) {
  const problems = problemsOf(editor)
  if (problems.length === 0) return null
  return (
    <Alert
      color="red"
      role="alert"
      icon={<CircleAlert size={18} aria-hidden />}
      title={editor.preview.error ? 'Couldn’t check the draft' : 'Couldn’t apply the draft'}
    >
      <List size="sm">
        {problems.map(({ message, node, step }) => (
          <List.Item key={`${step}:${message}`} style={{ overflowWrap: 'anywhere' }}>
            {message}{' '}
            {node && findNode(editor.graph, node) ? (
              <Anchor
                component="button"
                type="button"
                size="sm"
                c="var(--mantine-color-text)"
                underline="always"
                onClick={() => onOpen(node)}
              >
                Edit {nameOf(node)}
              </Anchor>
            ) : (
              step !== null && (
                <>
                  (step {step + 1}: {editor.draft?.steps[step]?.label})
                </>
              )
            )}
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}

/** After a reload secrets are gone from a draft: nothing of it was kept but that they were there. */
function LostSecrets({ editor, onOpen }: { editor: Editor; onOpen: (id: string) => void }) {
  if (editor.lost.length === 0) return null
  return (
    <Alert color="orange" role="alert" title="Secrets have to be typed again">
      <Text size="sm">Secrets are not kept after a reload.</Text>
      <List size="sm">
        {editor.lost.map(({ node, path }) => (
          <List.Item key={node + path}>
            {nameOf(node)}: {keysOf(path).at(-1)}{' '}
            <Anchor
              component="button"
              type="button"
              size="sm"
              c="var(--mantine-color-text)"
              underline="always"
              onClick={() => onOpen(node)}
            >
              Edit {nameOf(node)}
            </Anchor>
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}
