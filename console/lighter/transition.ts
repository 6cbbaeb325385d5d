/**
 * In place of d3-transition, which turns any attribute, style and colour into another: a drawing moves its view from
 * one place to another over some time, and a hand that takes hold of it interrupts that.
 */

type Listener = (this: Element, ...told: [datum: unknown, index: number, group: Element[]]) => void
type Step = (this: Element, done: number) => void
type Tween = (this: Element, ...told: Parameters<Listener>) => Step | null

/** Of a selection of d3, what is used here. */
interface Selected {
  each(visit: (this: Element) => void): unknown
}

interface Prototype {
  interrupt?: (this: Selected) => Selected
  transition?: (this: Selected) => Transition
}

/* Tests have no browser. */
declare function requestAnimationFrame(draw: (at: number) => void): number
declare function cancelAnimationFrame(frame: number): void

/** d3's own, milliseconds. */
const LASTS = 250
const DONE = 1

/** What stops the transition of an element. */
const stops = new WeakMap<Element, () => void>()

/** Ends what moves an element, where it is. */
const interrupt = (node: Element): void => stops.get(node)?.()

/** Gives selections of d3 what d3-transition gives them. @returns ends what moves an element */
export function movedBy({ prototype }: { prototype: Prototype }): (node: Element) => void {
  prototype.interrupt = function () {
    this.each(function () {
      interrupt(this)
    })
    return this
  }
  prototype.transition = function () {
    return new Transition(this)
  }
  return interrupt
}

class Transition {
  private lasts = LASTS
  private eased = (done: number): number => done
  private readonly heard: [type: string, listener: Listener][] = []
  private readonly tweens: Tween[] = []

  constructor(private readonly of: Selected) {
    const begin = (node: Element) => this.begin(node)
    of.each(function () {
      begin(this)
    })
  }

  selection(): Selected {
    return this.of
  }

  /** @param ms milliseconds */
  duration(ms: number): this {
    this.lasts = ms
    return this
  }

  ease(eased: (done: number) => number): this {
    this.eased = eased
    return this
  }

  /** @param types start, interrupt and end, several with spaces between, each with a dot and a name or without */
  on(types: string, listener: Listener): this {
    for (const type of types.split(' ')) this.heard.push([type.split('.')[0]!, listener])
    return this
  }

  tween(_name: string, tween: Tween): this {
    this.tweens.push(tween)
    return this
  }

  call<T extends unknown[]>(taking: (transition: this, ...given: T) => void, ...given: T): this {
    taking(this, ...given)
    return this
  }

  /** With the next frame, once it is said how; what moved the element until now is interrupted. */
  private begin(node: Element): void {
    const told: Parameters<Listener> = [(node as Element & { __data__?: unknown }).__data__, 0, [node]]
    const tell = (type: string) => {
      for (const [of, listener] of this.heard) if (of === type) listener.call(node, ...told)
    }
    interrupt(node)
    let [stopped, isMoving] = [false, false]
    const stop = () => {
      stopped = true
      cancelAnimationFrame(frame)
      if (stops.get(node) === stop) stops.delete(node)
      if (isMoving) tell('interrupt')
    }
    stops.set(node, stop)
    let frame = requestAnimationFrame((at) => {
      isMoving = true
      tell('start')
      if (stopped) return
      const steps = this.tweens.map((tween) => tween.call(node, ...told))
      const tick = (now: number) => {
        const done = now - at >= this.lasts ? DONE : this.eased((now - at) / this.lasts)
        for (const step of steps) step?.call(node, done)
        if (stopped) return
        if (now - at < this.lasts) {
          frame = requestAnimationFrame(tick)
          return
        }
        stops.delete(node)
        tell('end')
      }
      tick(at)
    })
  }
}
