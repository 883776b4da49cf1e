import tsdoc from "eslint-plugin-tsdoc";
import tseslint from "typescript-eslint";

const hostTime = [
  "Date",
  "performance",
  "setTimeout",
  "setInterval",
  "setImmediate",
  "clearTimeout",
  "clearInterval",
  "process",
  "console",
].map((name) => ({ name, message: "Only src/clock touches the host: take a Clock as a parameter." }));

export default tseslint.config(
  {
    ignores: [
      "**/dist/**",
      "examples/*/bundle/**",
      "coverage/**",
      "docs/api/**",
      "test/docs/.blocks/**",
      "test/faults/.built/**",
      "bench/scale/.built/**",
      "node_modules/**",
      "**/*.cjs",
    ],
  },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: {
          allowDefaultProject: [
            "eslint.config.js",
            "scripts/*.mjs",
            "scripts/terminal/*.mjs",
            "bench/*.mjs",
            "examples/*/tsup.config.ts",
          ],
          maximumDefaultProjectFileMatchCount_THIS_WILL_SLOW_DOWN_LINTING: 40,
        },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-import-type-side-effects": "error",
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: true },
      ],
      "@typescript-eslint/restrict-template-expressions": [
        "error",
        { allowNumber: true, allowBoolean: true },
      ],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/unbound-method": "off",
      eqeqeq: "error",
      "max-lines": ["error", 300],
      "no-restricted-syntax": ["error", { selector: "TSEnumDeclaration", message: "Use a string union." }],
    },
  },
  {
    files: ["src/**/*.ts"],
    ignores: ["src/**/*.test.ts", "src/**/*.test-d.ts"],
    plugins: { tsdoc },
    rules: { "tsdoc/syntax": "error", "no-restricted-globals": ["error", ...hostTime] },
  },
  {
    files: ["src/**/*.ts"],
    ignores: ["src/**/*.test.ts"],
    rules: {
      "no-restricted-properties": [
        "error",
        { object: "Math", property: "random", message: "Chance comes in through a port." },
        { object: "AbortSignal", property: "timeout", message: "It ignores the clock and can be collected." },
        { object: "AbortSignal", property: "any", message: "It leaks on a long-lived parent." },
      ],
    },
  },
  {
    // The clock's own room, the rendering of an instant that was given, and the command line, which is a host.
    files: ["src/clock/**/*.ts", "src/conditions/transition-time.ts", "src/cli/**/*.ts"],
    rules: { "no-restricted-globals": "off" },
  },
  {
    files: ["**/*.mjs", "**/*.js"],
    ...tseslint.configs.disableTypeChecked,
  },
  {
    // A claim about types takes parameters and values that nothing else uses.
    files: ["**/*.test-d.ts"],
    rules: {
      "@typescript-eslint/no-unnecessary-type-parameters": "off",
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unused-vars": "off",
      "@typescript-eslint/consistent-type-imports": "off",
    },
  },
  {
    files: ["**/*.test.ts", "test/**/*.ts"],
    rules: {
      "@typescript-eslint/no-non-null-assertion": "off",
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
    },
  },
);
