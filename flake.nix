{
  description = "System benchmarks that you can act on, with intervals and proof of work";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" ];
      packages = system: nixpkgs.legacyPackages.${system}.callPackage ./packaging/nix/package.nix { };
    in
    {
      packages = nixpkgs.lib.genAttrs systems (system: { default = packages system; });
    };
}
