# Built from source: the workloads are compiled by the compilers of Nix.
{ lib, rustPlatform, gfortran, installShellFiles }:
let
  manifest = (lib.importTOML ../../Cargo.toml).workspace.package;
in
rustPlatform.buildRustPackage {
  pname = "gritstone";
  inherit (manifest) version;
  src = lib.cleanSource ../..;
  cargoLock.lockFile = ../../Cargo.lock;
  buildAndTestSubdir = "crates/cli";
  nativeBuildInputs = [ gfortran installShellFiles ];
  # the tests measure, start servers and read /proc
  doCheck = false;
  # hardening flags would be part of what is measured
  hardeningDisable = [ "all" ];
  postInstall = ''
    $out/bin/gritstone man --output man
    installManPage man/*.1
    installShellCompletion --cmd gritstone \
      --bash <($out/bin/gritstone completions bash) \
      --zsh <($out/bin/gritstone completions zsh) \
      --fish <($out/bin/gritstone completions fish)
  '';
  meta = {
    description = "System benchmarks that you can act on, with intervals and proof of work";
    homepage = manifest.homepage;
    license = with lib.licenses; [ mit asl20 ];
    platforms = [ "x86_64-linux" "aarch64-linux" ];
    mainProgram = "gritstone";
  };
}
