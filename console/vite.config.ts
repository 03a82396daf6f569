import { fileURLToPath } from 'node:url'
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const gateway = process.env['LOCKSTEP_URL'] ?? 'http://127.0.0.1:8000'

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/console/',
  plugins: [react(), tailwind()],
  build: {
    outDir: fileURLToPath(new URL('../dist/console', import.meta.url)),
    emptyOutDir: true,
    // These know `light-dark()`, which is how the two themes are written.
    target: ['chrome123', 'edge123', 'firefox121', 'safari17.5'],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    manifest: true,
    reportCompressedSize: false,
    // The editor is one; `npm run check:console` watches what the first page loads.
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      // Packages mark components for servers that render; here everything is a client.
      onLog: (level, log, next) => {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') next(level, log)
      },
    },
  },
  server: {
    // Whatever is not the console is the gateway's.
    proxy: { '^/(?!console/)': { target: gateway } },
  },
})
