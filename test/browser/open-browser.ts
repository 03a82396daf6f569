import { readFileSync } from 'node:fs'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { findChromium } from './find-chromium.ts'

/** A browser that was started, or why there is none. */
export type OpenedBrowser = { readonly browser: Browser } | { readonly missing: string }

/** Starts the browser. Where continuous integration should have one and does not, that is an error, not a reason to skip. */
export async function openBrowser(): Promise<OpenedBrowser> {
  const found = await findChromium()
  if ('missing' in found) {
    const { CI } = process.env
    if (CI !== undefined && CI !== '' && process.platform === 'linux' && process.arch === 'x64')
      throw new Error(`continuous integration has no browser: ${found.missing}`)
    return found
  }
  const browser = await chromium.launch({
    executablePath: found.path,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    env: { ...(process.env as Record<string, string>), ...found.env },
  })
  return { browser }
}

export type Theme = 'light' | 'dark'
const sizes = { desk: { width: 1280, height: 800 }, phone: { width: 390, height: 780 } } as const

/** Somebody in front of a browser: a window of their own, and everything in it that went wrong. */
export class Visitor {
  readonly context: BrowserContext
  readonly page: Page
  readonly url: string
  /** What the browser complained about: errors of scripts, and what the page's policy kept from happening. */
  readonly complaints: string[] = []

  private constructor(context: BrowserContext, page: Page, url: string) {
    this.context = context
    this.page = page
    this.url = url
    page.on('pageerror', (error) => this.complaints.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.complaints.push(message.text())
    })
  }

  static async open(
    browser: Browser,
    url: string,
    look: { readonly theme?: Theme; readonly size?: keyof typeof sizes } = {},
  ): Promise<Visitor> {
    const context = await browser.newContext({
      viewport: sizes[look.size ?? 'desk'],
      hasTouch: look.size === 'phone',
      colorScheme: look.theme ?? 'light',
      reducedMotion: 'reduce',
      locale: 'en-GB',
      timezoneId: 'UTC',
    })
    context.setDefaultTimeout(60_000)
    // A script that tries to make code is stopped without a word in the console.
    await context.addInitScript(`addEventListener('securitypolicyviolation', ({ violatedDirective }) => {
      if (violatedDirective.startsWith('script-src')) console.error('a script was stopped: ' + violatedDirective)
    })`)
    return new Visitor(context, await context.newPage(), url)
  }

  /** Goes to a page of the console, and waits until it is there. */
  async goTo(path: string): Promise<void> {
    await this.page.goto(`${this.url}/console${path}`)
    // Not by its role: behind a dialog it has none.
    await this.page.locator('h1').waitFor()
  }

  /** Waits until nothing on the page is being loaded any more. */
  async settled(): Promise<void> {
    const loading = this.page.getByRole('status', { name: 'Loading' })
    while ((await loading.count()) > 0) await loading.first().waitFor({ state: 'detached' })
  }

  /** What axe finds wrong with the page as it is; in the dark theme only what depends on colours is looked at again. */
  async examine(): Promise<string[]> {
    await this.settled()
    if (!(await this.page.evaluate<boolean>(`'axe' in window`))) await this.page.evaluate(axeSource)
    const whole = await this.#axe(`{ resultTypes: ['violations'] }`)
    await this.page.emulateMedia({ colorScheme: 'dark' })
    const dark = await this.#axe(`{ resultTypes: ['violations'], runOnly: ['color-contrast'] }`)
    await this.page.emulateMedia({ colorScheme: 'light' })
    return [...whole, ...dark.map((finding) => `dark ${finding}`)]
  }

  async #axe(options: string): Promise<string[]> {
    const { violations } = await this.page.evaluate<AxeResult>(`axe.run(document, ${options})`)
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(
        ({ target, html, failureSummary }) =>
          `${id}: ${target.join(' ')}: ${html.slice(0, 200)}: ${failureSummary}`,
      ),
    )
  }

  async close(): Promise<void> {
    await this.context.close()
  }
}

type AxeNode = { readonly target: readonly string[]; readonly html: string; readonly failureSummary: string }
type AxeResult = {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly AxeNode[] }[]
}

const axeSource = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8')
