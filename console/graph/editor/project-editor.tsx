/**
 * A project, drawn or listed, as it is now and as a draft would leave it. It is read until somebody
 * begins to edit; whoever may only read sees no editing.
 */
import { Button, Drawer, Group, Paper, SegmentedControl, Stack, VisuallyHidden } from '@mantine/core'
import { Pencil } from 'lucide-react'
import type { ReactNode } from 'react'
import type { ProjectGraph } from '../../../schemas/types.ts'
import { graphApi } from '../../graph-client.ts'
import '../../styles/editor.css'
import { findEdge, findNode } from '../draft/ids.ts'
import type { GraphMarks } from '../types.ts'
import { AppliedNote } from './changes/applied-note.tsx'
import type { Applied } from './changes/apply-draft.tsx'
import { DraftPanel } from './changes/draft-panel.tsx'
import { UndoButtons } from './changes/steps.tsx'
import { EditorCanvas } from './editor-canvas.tsx'
import { ListEditor } from './list/list-editor.tsx'
import { EdgePanel } from './panel/edge-panel.tsx'
import { NewPartPanel } from './panel/new-part-panel.tsx'
import { NodePanel } from './panel/node-panel.tsx'
import { PartPalette } from './panel/part-palette.tsx'
import { SidePanel } from './panel/side-panel.tsx'
import { PasteDialog } from './paste-dialog.tsx'
import { SelectionButtons } from './pasting.tsx'
import { type Opened, type Session, useSession } from './state/use-session.ts'

interface Props {
  live: ProjectGraph
  marks: GraphMarks
  /** Opens a node's page, while nothing is edited. */
  onVisit: (id: string) => void
  /** Instead of an empty drawing, while nothing is edited. */
  empty: ReactNode
}

export function ProjectEditor({ live, marks, onVisit, empty }: Props) {
  const session = useSession(live, onVisit)
  const { editor, pasting, applied } = session
  return (
    <Stack gap="md">
      <TopBar session={session} />
      {applied && (
        <AppliedNote
          applied={applied}
          onDone={(said) => {
            session.setApplied(null)
            editor.say(said)
          }}
        />
      )}
      <Frame session={session} marks={marks} empty={empty} />
      {session.isEditing && (
        <DraftPanel
          editor={editor}
          tab={session.tab}
          onTab={session.setTab}
          onOpen={session.onOpen}
          onApply={() => session.setApplied(null)}
          onApplied={(result) => {
            session.setApplied(result)
            session.setOpened(null)
            session.setWantsEdit(true)
            editor.say('The draft is applied.')
            if (result.places.length) void keepPlaces(live, result.places)
          }}
        />
      )}
      <PasteDialog found={pasting.found} onClose={pasting.cancel} onPaste={pasting.paste} />
      <VisuallyHidden role="status" aria-live="polite">
        {editor.said}
      </VisuallyHidden>
    </Stack>
  )
}

function TopBar({ session }: { session: Session }) {
  const { editor, actions, isEditing, selected } = session
  return (
    <Group justify="space-between">
      <Group gap="xs">
        <SegmentedControl
          size="xs"
          aria-label="How the project is shown"
          value={session.view}
          onChange={session.setView}
          data={[
            { value: 'canvas', label: 'Canvas' },
            { value: 'list', label: 'List' },
          ]}
        />
        {isEditing && <UndoButtons editor={editor} />}
        {isEditing && (
          <SelectionButtons actions={actions} selected={selected} onPaste={session.pasting.read} />
        )}
      </Group>
      {editor.draft && session.mayEdit && <Button onClick={showDraft}>Review and apply</Button>}
      {editor.draft === null && session.mayEdit && (
        <Button
          variant={isEditing ? 'default' : 'filled'}
          leftSection={<Pencil size={15} aria-hidden />}
          onClick={() => {
            session.setWantsEdit(!isEditing)
            session.setOpened(null)
          }}
        >
          {isEditing ? 'Done editing' : 'Edit'}
        </Button>
      )}
    </Group>
  )
}

/** Palette, drawing or lists, and the side panel, which lies over the page where there is little room. */
function Frame({ session, marks, empty }: { session: Session; marks: GraphMarks; empty: ReactNode }) {
  const { editor, actions, isEditing, isNarrow, opened, setOpened } = session
  const close = () => setOpened(null)
  const panel = isEditing ? panelOf(session) : null
  const isBeside = panel !== null && !isNarrow
  return (
    <div className="editor-frame" data-editing={isEditing} data-panel={isBeside}>
      {isEditing && (
        <Paper withBorder radius="md" p="sm" className="editor-palette">
          <PartPalette
            actions={actions}
            onNew={(made) => setOpened({ made, at: null })}
            onAdded={(id) => session.onSelect([id])}
          />
        </Paper>
      )}
      <div className="editor-main">
        {editor.live.nodes.length === 0 && !isEditing ? (
          empty
        ) : session.view === 'canvas' ? (
          <EditorCanvas {...session} marks={marks} onNew={(made, at) => setOpened({ made, at })} />
        ) : (
          <ListEditor {...session} />
        )}
      </div>
      {isBeside && (
        <SidePanel key={keyOf(opened)} onClose={close}>
          {panel}
        </SidePanel>
      )}
      <Drawer opened={panel !== null && isNarrow} onClose={close} position="right" size="100%" title="Edit">
        {panel}
      </Drawer>
    </div>
  )
}

const keyOf = (opened: Opened): string =>
  opened === null ? '' : 'id' in opened ? opened.id : `new:${opened.made}`

function panelOf({ editor, actions, opened, setOpened }: Session): ReactNode {
  if (opened === null) return null
  if ('made' in opened)
    return (
      <NewPartPanel
        key={keyOf(opened)}
        editor={editor}
        actions={actions}
        kind={opened.made}
        at={opened.at}
        onDone={(id) => setOpened(id === null ? null : { id })}
      />
    )
  const node = findNode(editor.graph, opened.id)
  if (node) return <NodePanel editor={editor} actions={actions} node={node} />
  const edge = findEdge(editor.graph, opened.id)
  return edge ? <EdgePanel editor={editor} actions={actions} edge={edge} /> : null
}

/** The draft stands below, which may be far below a list. */
function showDraft(): void {
  const draft = document.querySelector<HTMLElement>('[data-draft]')
  draft?.scrollIntoView({ block: 'start' })
  draft?.focus({ preventScroll: true })
}

/** Where new nodes were dropped is kept with where others were put. */
const keepPlaces = (live: ProjectGraph, places: Applied['places']) =>
  graphApi.putPositions(live.project.id, [
    ...live.positions.filter(({ node }) => !places.some((place) => place.node === node)),
    ...places,
  ])
