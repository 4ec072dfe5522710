import { defineConfig, globalIgnores } from "eslint/config";
import tseslint from "typescript-eslint";

export default defineConfig(
  globalIgnores(["dist/", "dist.new/", ".cache/"]),
  { linterOptions: { noInlineConfig: true, reportUnusedDisableDirectives: "error" } },
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        project: ["tsconfig.json", "tsconfig.editor.json", "test/tsconfig.json"],
        tsconfigRootDir: import.meta.dirname,
      },
    },
  },
  {
    rules: {
      // An expression body is shorter, and its value is ignored where nobody asks for it.
      "@typescript-eslint/no-confusing-void-expression": "off",
      // Numbers in a template read as they are.
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // An empty text stands for one that was not given.
      "@typescript-eslint/prefer-nullish-coalescing": ["error", { ignorePrimitives: { string: true } }],
      // Node-RED's validators and Express's error handlers are told by how many parameters they declare.
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", ignoreRestSiblings: true }],
    },
  },
  {
    files: ["nodes/editor/deliveries/*.{ts,tsx}", "nodes/editor/page/*.{ts,tsx}", "nodes/editor/dom.ts"],
    ignores: ["**/editor-host.ts", "**/tab.ts"],
    // The page of deliveries has neither jQuery nor the editor.
    rules: { "no-restricted-globals": ["error", "$", "RED"] },
  },
);
