/**
 * How a drawing is brought into view: as large as it fits, but never so small that a name of 13 px falls under 11, nor
 * larger than by a quarter. What is then too high or too wide begins at the top left, or is around what is selected where
 * that would be out of sight.
 */
import { extentOf } from '../layout.ts'
import type { Box } from './geometry.ts'

/** A name of 13 px is 11.05 px high then. */
export const ZOOM_LEAST = 0.85
export const ZOOM_MOST = 1.25
/** How far one may zoom in by hand. */
export const ZOOM_IN = 2
/** Between the drawing and the rim, in pixels of the screen; less where all of it is seen only so. */
export const MARGIN = 16

export interface Room {
  width: number
  height: number
  /** Taken at the top by what floats over the drawing. */
  top: number
}

export interface View {
  x: number
  y: number
  zoom: number
}

/** @param focus kept in sight where not all of it is */
export function fitted(content: Box, room: Room, focus: Box | null = null): View {
  const [wide, high] = [room.width - 2 * MARGIN, room.height - room.top - 2 * MARGIN]
  const zoom = clamp(
    Math.min(wide / Math.max(1, content.width), high / Math.max(1, content.height)),
    ZOOM_LEAST,
    ZOOM_MOST,
  )
  return placed(content, room, zoom, focus)
}

/** The same at a zoom that is given. */
export function placed(content: Box, room: Room, zoom: number, focus: Box | null): View {
  const along = (
    start: number,
    size: number,
    from: number,
    space: number,
    at: { start: number; size: number } | null,
  ) => {
    const left = space - 2 * MARGIN - size * zoom
    // Its margins are no reason to scroll.
    if (left >= -2 * MARGIN) return from + MARGIN + left / 2 - start * zoom
    const first = from + MARGIN - start * zoom
    // What would be seen there anyway is no reason to leave the beginning.
    if (at === null || first + (at.start + at.size) * zoom <= from + space - MARGIN) return first
    const middle = from + space / 2 - (at.start + at.size / 2) * zoom
    return clamp(middle, first + left, first)
  }
  return {
    x: along(content.x, content.width, 0, room.width, focus && { start: focus.x, size: focus.width }),
    y: along(
      content.y,
      content.height,
      room.top,
      room.height - room.top,
      focus && { start: focus.y, size: focus.height },
    ),
    zoom,
  }
}

/** Whether a node is in sight as a whole. */
export function isSeen(box: Box, view: View, room: Room): boolean {
  const [left, top] = [box.x * view.zoom + view.x, box.y * view.zoom + view.y]
  return (
    left >= MARGIN / 2 &&
    top >= room.top &&
    left + box.width * view.zoom <= room.width - MARGIN / 2 &&
    top + box.height * view.zoom <= room.height - MARGIN / 2
  )
}

/**
 * Brings nodes into sight, all of them: no smaller than they are seen now unless they do not fit so; where they are too far
 * apart for any size, the last, which the others lead to.
 * @returns null where all of them are in sight
 */
export function following(content: Box, room: Room, view: View, nodes: readonly Box[]): View | null {
  const last = nodes.at(-1)
  if (!last || nodes.every((box) => isSeen(box, view, room))) return null
  const all = extentOf(new Map(nodes.map((box, i) => [String(i), box])))
  const zoom = Math.min(view.zoom, fitted(all, room).zoom)
  const next = placed(content, room, zoom, all)
  return nodes.every((box) => isSeen(box, next, room)) ? next : placed(content, room, view.zoom, last)
}

/** Whether not all of it is in sight at the least zoom: then the wheel moves it. */
export const isOver = (content: Box, room: Room): boolean =>
  content.height * ZOOM_LEAST > room.height - room.top - 2 * MARGIN + 1 ||
  content.width * ZOOM_LEAST > room.width - 2 * MARGIN + 1

/** Of a window the drawing has about so much, at a desk without banners. */
const OF_WINDOW = 0.72

/**
 * How many screens of a drawing there are, at the least zoom. A banner above it, or a player below it, makes no screen
 * smaller: what is drawn is then not a list because of them.
 * @param window its height in pixels
 */
export const screensOf = (content: Box, room: Room, window: number): number =>
  (content.height * ZOOM_LEAST) / Math.max(1, room.height - room.top, window * OF_WINDOW)

const clamp = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value))
